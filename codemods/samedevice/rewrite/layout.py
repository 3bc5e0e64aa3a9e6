"""Where a new argument, parameter or imported name goes: as if it had always been there."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar, cast

import libcst as cst

Item = TypeVar("Item", bound=cst.Arg | cst.Param | cst.ImportAlias)
_Space: TypeAlias = cst.SimpleWhitespace | cst.ParenthesizedWhitespace

_NO_SPACE = cst.SimpleWhitespace("")
_ONE_SPACE = cst.SimpleWhitespace(" ")
_PLAIN_END = cst.TrailingWhitespace()

# Says whether the new item still fits on the line, given the white space to be put before it.
Fits = Callable[[str], bool]


def append(
    items: Sequence[Item],
    new: Item,
    opening: cst.BaseParenthesizableWhitespace,
    *,
    fits: Fits,
    wrapped: cst.ParenthesizedWhitespace | None = None,
) -> list[Item]:
    """Return `items` with `new` after the last one, in the layout of those before it.

    `opening` is the white space after the opening bracket. `wrapped` is what starts a new line when
    a one-line list would grow too long with the new item; without it the line just grows.
    """
    if not items:
        return [new]
    last = items[-1]
    separator = _separator(items, opening, fits)
    if isinstance(separator, cst.SimpleWhitespace) and wrapped is not None:
        closing = _after(last)
        if not isinstance(closing, cst.ParenthesizedWhitespace) and not fits(separator.value):
            separator = wrapped
    if isinstance(last.comma, cst.Comma):
        closing = cast(_Space, last.comma.whitespace_after)
        comma = last.comma.with_changes(whitespace_after=_join(closing, separator, opening))
        after = _changed(
            new, comma=last.comma.with_changes(whitespace_after=_without_comments(closing))
        )
        return [*items[:-1], _changed(last, comma=comma), after]
    closing = _after(last)
    comma = cst.Comma(whitespace_after=_join(closing, separator, opening))
    before = _changed(_with_after(last, _NO_SPACE), comma=comma)
    return [*items[:-1], before, _with_after(new, _without_comments(closing))]


def import_name(
    names: Sequence[cst.ImportAlias],
    name: str,
    opening: cst.BaseParenthesizableWhitespace,
    *,
    fits: Fits,
) -> list[cst.ImportAlias]:
    """Return the names of an import with a new one: among them if they are sorted, else last."""
    new = cst.ImportAlias(cst.Name(name))
    known = [cst.ensure_type(each.name, cst.Name).value for each in names]
    for key in (_by_kind, str.lower):
        keys = [key(each) for each in known]
        if keys == sorted(keys):
            at = bisect(keys, key(name))
            if at < len(names):
                return insert_before(names, at, new, _without_comments(opening))
            break
    return append(names, new, opening, fits=fits)


def _by_kind(name: str) -> tuple[int, str]:
    """Return how isort sorts the names of an import: constants, classes, then all others."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name


def insert_before(
    items: Sequence[Item],
    index: int,
    new: Item,
    opening: cst.BaseParenthesizableWhitespace = _NO_SPACE,
) -> list[Item]:
    """Return `items` with `new` before `items[index]`, separated as its neighbours are.

    `opening` is the white space after the opening bracket.
    """
    broken = isinstance(opening, cst.ParenthesizedWhitespace)
    space: cst.BaseParenthesizableWhitespace = opening if broken else _ONE_SPACE
    if index > 0 and isinstance(items[index - 1].comma, cst.Comma):
        previous = cast(cst.Comma, items[index - 1].comma)
        space = _without_comments(cast(_Space, previous.whitespace_after))
    return [
        *items[:index],
        _changed(new, comma=cst.Comma(whitespace_after=space)),
        *items[index:],
    ]


def remove(items: Sequence[Item], index: int) -> list[Item]:
    """Return `items` without `items[index]` and the comment in its line.

    What closed the list goes on closing it; comments of other items and on lines of their own stay.
    """
    gone, rest = items[index], [*items[:index], *items[index + 1 :]]
    if not rest or index == 0:
        return rest
    previous = rest[index - 1]
    between = _space_of(previous)
    if index < len(items) - 1:
        rest[index - 1] = _with_space(previous, _closed(between, _space_of(gone), stay=True))
        return rest
    closing = _closed(between, _space_of(gone), stay=False)
    if isinstance(gone.comma, cst.Comma):
        rest[index - 1] = _with_space(previous, closing)
    else:
        rest[index - 1] = _changed(_with_after(previous, closing), comma=gone.comma)
    return rest


def _space_of(item: cst.Arg | cst.Param | cst.ImportAlias) -> _Space:
    """Return the white space that ends an item's line: after its comma, if it has one."""
    if isinstance(item.comma, cst.Comma):
        return cast(_Space, item.comma.whitespace_after)
    return _after(item)


def _with_space(item: Item, space: _Space) -> Item:
    return _changed(item, comma=cast(cst.Comma, item.comma).with_changes(whitespace_after=space))


def _closed(between: _Space, after: _Space, *, stay: bool) -> _Space:
    """Return what follows an item when the one after it, which `after` ends, is gone.

    With `stay`, the next item starts where the one that is gone did.
    """
    if not isinstance(between, cst.ParenthesizedWhitespace):
        return between if stay else _without_line_comment(after)
    if not isinstance(after, cst.ParenthesizedWhitespace):
        return between if stay or _comments(between) else after
    lines = [*between.empty_lines, *after.empty_lines]
    return (between if stay else after).with_changes(
        first_line=between.first_line, empty_lines=lines
    )


def _without_line_comment(space: _Space) -> _Space:
    if isinstance(space, cst.ParenthesizedWhitespace):
        return space.with_changes(first_line=_PLAIN_END)
    return space


def _separator(
    items: Sequence[Item], opening: cst.BaseParenthesizableWhitespace, fits: Fits
) -> _Space:
    """Return the white space between items as this list writes it."""
    spaces = [
        cast(_Space, item.comma.whitespace_after)
        for item in items[:-1]
        if isinstance(item.comma, cst.Comma)
    ]
    broken = [space for space in spaces if isinstance(space, cst.ParenthesizedWhitespace)]
    inline = [space for space in spaces if isinstance(space, cst.SimpleWhitespace)]
    if not spaces:
        if isinstance(opening, cst.ParenthesizedWhitespace):
            return _without_comments(opening)
        return _ONE_SPACE
    if broken and (not inline or not fits(inline[-1].value)):
        return _without_comments(broken[-1])
    return inline[-1]


def _join(closing: _Space, separator: _Space, opening: cst.BaseParenthesizableWhitespace) -> _Space:
    """Return what stands after the old last item: its comments, then the start of the new one."""
    if not isinstance(closing, cst.ParenthesizedWhitespace):
        return separator
    if not isinstance(separator, cst.ParenthesizedWhitespace):
        if not _comments(closing):
            return separator
        if isinstance(opening, cst.ParenthesizedWhitespace):
            separator = opening
        else:  # a comment ends the line: go on in the next one
            return closing
    return closing.with_changes(indent=separator.indent, last_line=separator.last_line)


def _comments(space: cst.ParenthesizedWhitespace) -> bool:
    return space.first_line.comment is not None or any(
        line.comment is not None for line in space.empty_lines
    )


def _without_comments(space: cst.BaseParenthesizableWhitespace) -> _Space:
    if isinstance(space, cst.ParenthesizedWhitespace):
        return space.with_changes(first_line=_PLAIN_END, empty_lines=())
    return cast(_Space, space)


def _after(item: cst.Arg | cst.Param | cst.ImportAlias) -> _Space:
    """Return the white space between an item and the comma or bracket that follows."""
    if isinstance(item, cst.Arg):
        return cast(_Space, item.whitespace_after_arg)
    if isinstance(item, cst.Param):
        return cast(_Space, item.whitespace_after_param)
    return _NO_SPACE


def _with_after(item: Item, space: cst.BaseParenthesizableWhitespace) -> Item:
    if isinstance(item, cst.Arg):
        return _changed(item, whitespace_after_arg=space)
    if isinstance(item, cst.Param):
        return _changed(item, whitespace_after_param=space)
    return item


def _changed(item: Item, **changes: object) -> Item:
    return cast(Item, item.with_changes(**changes))
