"""Fixes -> new text. The only room that parses with libcst.

`rewrite` makes the edits of one file in one pass over its libcst tree and then proves two things
of the result: that it parses, and that it differs from the old text in device handling only (see
`erase`). A fix whose edits do not pass is refused with a reason; the others are made.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ..finding import Edit, Fix, Resolver, Span
from ..reading.source import Source, SourceError
from ..verify.erase import equivalent
from . import resolver
from .engine import Tree
from .expressions import Refused
from .imports import Plan, plan
from .local import LocalDevices, Surroundings, wanted_outside
from .outline import Outline
from .present import Present
from .quotes import Quotes
from .resolver import Style

__all__ = [
    "Rewritten",
    "Style",
    "Surroundings",
    "line_limit",
    "new_files",
    "rewrite",
    "wanted_outside",
]

#: Why an edit that is there already is not made again.
_THERE = "what it would add stands there already, and does not help"
_MOVED = "it is moved there already, perhaps to a device that is None"


@dataclass(frozen=True)
class Rewritten:
    """What became of a file: its new text, the fixes in it, and those refused with a reason.

    `new_files` are the resolver modules that the new text imports, as (path, text); whether they
    exist already is for the caller to look up. `blocks` are those that have a device of their own
    now ("" is what runs as a script).
    """

    text: str
    applied: tuple[Fix, ...] = ()
    refused: tuple[tuple[Fix, str], ...] = ()
    new_files: tuple[tuple[str, str], ...] = ()
    blocks: frozenset[str] = frozenset()


def rewrite(
    source: Source,
    fixes: Sequence[Fix],
    *,
    line_length: int | None = None,
    style: Style = "cuda",
    own: Collection[str] = (),
    around: Surroundings | None = None,
) -> Rewritten:
    """Make the edits, imports and resolvers that `fixes` have for this file.

    A fix is made as a whole (as far as this file goes) or refused. `line_length` is the project's;
    without it, the file's own lines tell (see `line_limit`). `style` is that of a new resolver,
    and `own` are the names of the project's own packages and modules, as far as the file has them.
    A device that only one block uses is defined there, where it is known what is `around` it.
    Raises `SourceError` when the source does not parse.
    """
    return _Rewriter(source, fixes, line_length, style, own, around).run()


class _Rewriter:
    """One file's rewrite: what is refused so far, and what is left."""

    def __init__(
        self,
        source: Source,
        fixes: Sequence[Fix],
        line_length: int | None,
        style: Style,
        own: Collection[str],
        around: Surroundings | None,
    ) -> None:
        self._source = source
        self._around = around
        self._fixes = [fix for fix in dict.fromkeys(fixes) if _concerns(fix, source.path)]
        self._style, self._own = style, own
        self._limit = line_length or line_limit(source.text)
        self._quotes = Quotes(source)
        self._refused: dict[Fix, str] = {}
        self._local = self._in_blocks([])

    def _in_blocks(self, fixes: Sequence[Fix]) -> LocalDevices:
        quotes, limit, around = self._quotes, self._limit, self._around
        return LocalDevices(self._source, fixes, self._style, limit, quotes, around)

    def run(self) -> Rewritten:
        before = self._source.tree
        active = self._without_conflicts()
        self._local = self._in_blocks(active)
        text = self._source.text
        try:
            if active:
                self._read(active)
                active, outline = self._safe(before, active)
                text = self._outline.filled(outline)
        except (Refused, RecursionError) as error:
            reason = str(error) if isinstance(error, Refused) else "the code is nested too deeply"
            self._refused.update(dict.fromkeys(active, reason))
            active, text = [], self._source.text
        return Rewritten(
            text,
            tuple(active),
            tuple((fix, self._refused[fix]) for fix in self._fixes if fix in self._refused),
            new_files(active, self._style, self._source.path),
            self._local.named(active),
        )

    def _read(self, fixes: Sequence[Fix]) -> None:
        """Read what the edits concern, or the whole file where libcst cannot read less."""
        edits = self._all_edits(fixes)
        names = {item.name for fix in fixes for item in fix.resolvers}
        try:
            self._outline = Outline(self._source, edits, names)
            self._tree = Tree(self._outline.source, edits, self._limit, self._quotes)
        except Refused:
            self._outline = Outline(self._source, edits, whole=True)
            self._tree = Tree(self._outline.source, edits, self._limit, self._quotes)

    def _edits(self, fixes: Iterable[Fix]) -> list[Edit]:
        """Return the edits for this file, each once."""
        path = self._source.path
        return list(dict.fromkeys(e for fix in fixes for e in fix.edits if e.path == path))

    def _all_edits(self, fixes: Sequence[Fix]) -> list[Edit]:
        """Return the edits for this file, with those that define a device in its block."""
        return [*self._local.of(fixes), *self._edits(fixes)]

    def _without_conflicts(self) -> list[Fix]:
        """Refuse every fix that wants something else at a place than a fix before it."""
        present = Present(self._source)
        taken: dict[tuple[Span, str], Edit] = {}
        gone: dict[int, list[tuple[Span, Fix]]] = {}  # by each line that they are in
        active: list[Fix] = []
        for fix in self._fixes:
            edits = self._edits([fix])
            there = next((edit for edit in edits if edit in present), None)
            if there is not None:
                moved = there.verb == "method"
                self._refused[fix] = _MOVED if moved else _THERE
                continue
            slots = [((edit.span, slot), edit) for edit in edits if (slot := _slot(edit))]
            if any(taken.setdefault(key, edit) != edit for key, edit in slots):
                self._refused[fix] = "it conflicts with another fix at the same place"
                for key, edit in slots:
                    if taken.get(key) is edit and not any(edit in other.edits for other in active):
                        del taken[key]
                continue
            active.append(fix)
            for span in (edit.span for edit in edits if _discards(edit)):
                for line in range(span.line, span.end_line + 1):
                    gone.setdefault(line, []).append((span, fix))
        if not gone:
            return active
        kept = []
        for fix in active:
            spans = [edit.span for edit in self._edits([fix])]
            if any(
                other is not fix and _inside(span, outer)
                for span in spans
                for outer, other in gone.get(span.line, ())
            ):
                self._refused[fix] = "another fix removes the code that it would change"
            else:
                kept.append(fix)
        return kept

    def _safe(self, before: ast.Module, active: list[Fix]) -> tuple[list[Fix], str]:
        """Return the fixes that may stay, and the outline with them; the others are refused.

        Halves are tried when the whole is not safe, so that a wrong fix goes alone.
        """
        active, text = self._attempt(active)
        reason = self._objection(before, text, active)
        if reason is None:
            return active, text
        if len(active) == 1:
            self._refused[active[0]] = reason
            return [], self._outline.source.text
        middle = len(active) // 2
        left, _ = self._safe(before, active[:middle])
        right, _ = self._safe(before, active[middle:])
        both, text = self._attempt([*left, *right])
        reason = self._objection(before, text, both)
        if reason is None:
            return both, text
        self._refused.update(dict.fromkeys(right, reason))  # each is safe, but not together
        return self._attempt(left)

    def _attempt(self, active: list[Fix]) -> tuple[list[Fix], str]:
        """Make the fixes; those with an edit that does not fit are refused, the others made."""
        while active:
            try:
                additions = self._plan(active)
            except Refused:
                for fix in active:
                    try:
                        self._plan([fix])
                    except Refused as error:
                        self._refused[fix] = str(error)
                left = [fix for fix in active if fix not in self._refused]
                if len(left) == len(active):  # they need different things by one name
                    self._refused[left.pop()] = "another fix needs the same name for something else"
                active = left
                continue
            text, refused = self._tree.apply(self._all_edits(active), additions)
            if not refused:
                return active, text
            for fix in active:
                needed = [*self._local.of([fix]), *fix.edits]
                reasons = [refused[edit] for edit in needed if edit in refused]
                if reasons:
                    self._refused[fix] = reasons[0]
            active = [fix for fix in active if fix not in self._refused]
        return [], self._outline.source.text

    def _plan(self, fixes: Iterable[Fix]) -> Plan:
        path = self._source.path
        fixes = list(fixes)
        imports = [item for fix in fixes for item in fix.imports if item.path == path]
        resolvers = [item for fix in fixes for item in fix.resolvers if item.path == path]
        for wanted in dict.fromkeys(each for each in resolvers if each in self._local.edits):
            imports += self._local.imports(wanted)
        resolvers = [each for each in resolvers if each not in self._local.edits]
        if not imports and not resolvers:
            return Plan()
        edits = self._all_edits(fixes)
        return plan(
            self._tree.module,
            self._tree.line_of,
            imports,
            resolvers,
            needed_at=min((e.span.line for e in edits), default=len(self._source.text)),
            style=self._style,
            limit=self._limit,
            quotes=self._quotes,
            notebook=self._source.is_notebook,
            gone={e.span.line for e in edits if e.verb == "delete"},
            own=self._own,
        )

    def _objection(self, before: ast.Module, outline: str, fixes: Sequence[Fix]) -> str | None:
        """Return why a text with a new outline may not be written, or None."""
        if not fixes:
            return None
        text = self._outline.filled(outline)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                after = ast.parse(text)
                part = after if outline == text else ast.parse(outline)
            self._source.encode(text)
        except (SyntaxError, ValueError) as error:
            return f"the result would not parse: {str(error).splitlines()[0]}"
        except SourceError as error:
            return error.message
        names = {item.name for fix in fixes for item in fix.resolvers if not item.moves}
        imports = {item.name or item.module for fix in fixes for item in fix.imports}
        movers = {item.name for fix in fixes for item in fix.resolvers if item.moves}
        imports |= movers
        if names and self._style in resolver.NEEDS:
            imports.add(resolver.NEEDS[self._style])
        declared = {fix.erasure for fix in fixes if fix.erasure}
        types = dict(pair for fix in fixes for pair in fix.types)
        difference = equivalent(
            before, after, names=names, imports=imports, declared=declared, types=types,
            movers=movers, parts=(self._outline.source.tree, part),
        )  # fmt: skip
        return difference and f"more than device handling would change: {difference}"


def new_files(
    fixes: Iterable[Fix], style: Style, path: str | None = None
) -> tuple[tuple[str, str], ...]:
    """Return the resolver modules that fixes need, as (path, text): with all that any of them asks.

    With `path`, those that this file needs.
    """
    needed: dict[str, list[Resolver]] = {}
    for fix in fixes:
        for item in fix.resolvers:
            if path in (None, item.path) and item.module_path is not None:
                needed.setdefault(item.module_path, []).append(item)
    return tuple(
        (
            module_path,
            resolver.module(
                style,
                next((item.gpu for item in items if item.gpu), ""),
                list(dict.fromkeys(item.name for item in items if item.moves)),
            ),
        )
        for module_path, items in needed.items()
    )


def line_limit(text: str) -> int:
    """Return how long the lines of a file may grow, as far as the file shows it.

    A file with several lines that just fit into 79 or 88 characters, and none that do not, keeps to
    that. Else it is the longest line, and at least 100.
    """
    lengths = [len(line) for line in text.split("\n")]
    longest = max(lengths)
    for limit in (79, 88):
        if longest <= limit and sum(length > limit - 6 for length in lengths) >= 3:
            return limit
    return max(longest, 100)


def _concerns(fix: Fix, path: str) -> bool:
    paths = (item.path for items in (fix.edits, fix.imports, fix.resolvers) for item in items)
    return path in paths


def _slot(edit: Edit) -> str | None:
    """Return what an edit decides at its place, when only one edit can; else None."""
    if edit.verb in ("keyword", "drop_keyword", "parameter"):
        return f"argument {dict(edit.args).get('name')}"
    if edit.verb == "callee":
        return "callee"
    if edit.verb in ("before", "after", "head", "method"):
        return None
    return "whole"


def _discards(edit: Edit) -> bool:
    """Tell whether nothing is left of what stood at the place of an edit."""
    if edit.verb in ("delete", "replace_statement"):
        return True
    return edit.verb == "replace" and "{}" not in dict(edit.args).get("code", "")


def _inside(inner: Span, outer: Span) -> bool:
    start, end = (inner.line, inner.column), (inner.end_line, inner.end_column)
    return (
        (outer.line, outer.column) <= start
        and end <= (outer.end_line, outer.end_column)
        and inner != outer
    )
