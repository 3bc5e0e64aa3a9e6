"""What a map shows -> one SVG picture: the findings with their code, before and after.

No browser is needed. What stands in code is as long as its columns, so that it looks the same
whatever font the reader has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..report.shell import visible
from . import graph, lines
from .code import ends
from .look import OTHERS, PLACES
from .model import Clash, File, View
from .names import Names
from .templates import count, template

#: Lines of code of one picture, lines of one file, findings told of one file, files drawn.
_ROWS, _OF_ONE, _TOLD = 60, 30, 4
#: The size of letters of code: how far apart columns are, and lines.
_ACROSS, _DOWN = 7.5, 20
#: The edge of the picture, the margin of code for arrows and numbers, between two panes.
_EDGE, _GUTTER, _BETWEEN = 24, 74, 16
#: Columns of code that are shown, how wide a picture is at most, and at least.
_COLUMNS, _WIDE, _LEAST = 100, 1240, 640
#: How wide a letter of a sentence is.
_LETTER = 7.2


class Text(NamedTuple):
    """A text that begins at x, y; `length` is how long it is drawn, 0 for as long as it is."""

    x: float
    y: float
    css: str
    text: str
    length: float = 0


class Rect(NamedTuple):
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float
    css: str


class Path(NamedTuple):
    """A line."""

    d: str
    css: str


@dataclass
class _Canvas:
    """What is drawn, from back to front: rectangles, lines, letters."""

    rects: list[Rect]
    paths: list[Path]
    texts: list[Text]


def draw(
    before: View, after: View | None, names: Names, title: str, paths: Sequence[str],
    dark: bool = True,
) -> str:  # fmt: skip
    """Return the picture of a project as an SVG document; `paths` are the files that may be on it.

    It follows the reader's colour scheme; without `dark` it is always light.
    """
    files = [before.files[path] for path in paths if path in before.files]
    clashes = [clash for file in files for clash in file.clashes]
    canvas = _Canvas([], [], [])
    blocks, left_out = _chosen(before, after, files)
    pane = _GUTTER + max((block.columns for block in blocks), default=40) * _ACROSS + 12
    two = after is not None and 2 * pane + _BETWEEN + 2 * _EDGE <= _WIDE
    drawing = None
    if len(files) > 1:
        drawing = graph.draw(
            {file.path: file for file in files}, after.files if after else {}, names
        )
    width = max(pane * (2 if two else 1) + _BETWEEN * two, _LEAST, drawing.width if drawing else 0)
    y = _heading(canvas, title, clashes, before, after)
    for block in blocks:
        y = _file(canvas, block, names, y, width, two, after is not None)
    made = [names.shown(path) for path in paths if path not in before.files]
    for words in (
        f"and {count(left_out, 'more file')} with findings" if left_out else "",
        f"new after samedevice fix: {', '.join(made)}" if made else "",
    ):
        if words:
            canvas.texts.append(Text(_EDGE, y + 4, "quiet", words))
            y += 24
    at = y + 8
    height = at + (drawing.height + 12 if drawing else 0) + _EDGE - 8
    return template("picture.svg").render(
        canvas=canvas, drawing=drawing, at=at, edge=_EDGE, width=round(width + 2 * _EDGE),
        height=round(height), title=title, places=PLACES.values(), others=OTHERS, dark=dark,
    )  # fmt: skip


def _heading(
    canvas: _Canvas, title: str, clashes: Sequence[Clash], before: View,
    after: View | None,
) -> float:  # fmt: skip
    """Draw the title, the sum and what the colours mean; returns where the next thing begins."""
    of, all_ = len({clash.finding.path for clash in clashes}), count(len(before.files), "file")
    words = f"{count(len(clashes), 'finding')} in {of} of {all_}"
    if not clashes:
        words = f"no finding in {all_}"
    elif after is not None:
        left = len(after.clashes)
        words += f"; after samedevice fix: {left or 'none'} left"
    canvas.texts.append(Text(_EDGE, 38, "title", title))
    canvas.texts.append(Text(_EDGE, 60, "quiet", words))
    x: float = _EDGE
    for look in PLACES.values():
        length = len(look.name) * _ACROSS
        _value(canvas, x, 86, length, look.css, "")
        canvas.texts.append(Text(x, 86, f"code {look.css}", look.name, length))
        x += length + 22
    return 112


# -- which code is on it --------------------------------------------------------------------


class _Side(NamedTuple):
    """One version of a file, and its rows that are shown: -1 for none, -2 for those left out."""

    file: File
    rows: list[tuple[int, int]]
    changed: Collection[int]


class _Block(NamedTuple):
    """A file on the picture: its findings, its versions, and how many columns its code takes."""

    path: str
    clashes: Sequence[Clash]
    sides: list[_Side]
    columns: int


def _chosen(before: View, after: View | None, files: Sequence[File]) -> tuple[list[_Block], int]:
    """Return the files that are drawn, and how many with findings are not."""
    blocks: list[_Block] = []
    rows = left_out = 0
    for file in files:
        new = after.files.get(file.path) if after else None
        block = _block(file, new)
        if block is None:
            continue
        if blocks and rows + len(block.sides[0].rows) > _ROWS:
            left_out += bool(file.clashes)
            continue
        rows += len(block.sides[0].rows)
        blocks.append(block)
    return blocks, left_out


def _block(file: File, new: File | None) -> _Block | None:
    key = set()
    for clash in file.clashes:
        key.add(clash.finding.span.line)
        for at in (clash.origin, clash.meeting, clash.other):
            if at is not None and at.path == file.path:
                key.add(at.span.line)
    pair = lines.aligned(file.source, new.source if new is not None else file.source)
    near = lines.near(pair, key)
    if not near:
        return None
    count = len(pair[0].lines)
    skipped = dict(lines.runs(near, count))
    chosen: list[tuple[int, int]] = []  # a row, or -2 and how many are left out
    for row in range(count):
        if row in skipped:
            chosen.append((-2, skipped[row] - row))
        elif row in near:
            chosen.append((row, 0))
        if len(chosen) == _OF_ONE and row + 1 < count:
            chosen.append((-2, count - row - 1))
            break
    sides = []
    for side, rows in zip((file, new), pair, strict=True):
        if side is not None:
            own = [(rows.lines[row], 0) if row >= 0 else (-2, more) for row, more in chosen]
            sides.append(_Side(side, own, rows.changed))
    columns = max(
        (lines.width(lines.text(side.file.source)[row]) for side in sides
         for row, _ in side.rows if row >= 0), default=20,
    )  # fmt: skip
    return _Block(file.path, file.clashes, sides, min(columns, _COLUMNS))


# -- how it is drawn ------------------------------------------------------------------------


def _file(
    canvas: _Canvas, block: _Block, names: Names, y: float, width: float, two: bool, both: bool
) -> float:  # fmt: skip
    """Draw one file; returns where the next one begins."""
    canvas.texts.append(Text(_EDGE, y + 14, "name", names.shown(block.path)))
    y += 28
    for clash in block.clashes[:_TOLD]:
        label = lines.label(block.sides[0].file.source, clash.finding.span.line)
        words = visible(clash.finding.message.replace("`", ""))
        told = lines.short(f"\u26a1 {label}: {words}", int(width / _LETTER))
        canvas.texts.append(Text(_EDGE, y + 10, "bad", told))
        y += 20
    if len(block.clashes) > _TOLD:
        more = len(block.clashes) - _TOLD
        words = f"and {more} more finding{'s' * (more > 1)} in this file"
        canvas.texts.append(Text(_EDGE, y + 10, "quiet", words))
        y += 20
    pane = (width - _BETWEEN) / 2 if two else width
    x: float = _EDGE
    for number, side in enumerate(block.sides):
        head = ("after samedevice fix" if number else "before") if both else ""
        bottom = _pane(canvas, block, side, number, (x, y), pane, head, two)
        if two and not number:
            x += pane + _BETWEEN
        else:
            y = bottom + 12
    return y + 10


def _pane(
    canvas: _Canvas, block: _Block, side: _Side, number: int, corner: tuple[float, float],
    width: float, head: str, beside: bool,
) -> float:  # fmt: skip
    """Draw one version of a file, `beside` the other or below it; returns where it ends."""
    x, y = corner
    if head:
        canvas.texts.append(Text(x + 2, y + 14, "small", head))
        y += 20
    top = y
    y += 6
    source = side.file.source
    text, tokens = lines.text(source), lines.tokens(source)
    lives: dict[int, list[int]] = {}
    for index, life in enumerate(side.file.lives):
        lives.setdefault(life.span.line, []).append(index)
    flags = {} if number else {clash.finding.span.line for clash in block.clashes}
    where: dict[int, float] = {}
    back = len(canvas.rects)
    for row, more in side.rows:
        if row == -2:
            words = f"\u22ef {more} line{'s' * (more > 1)}"
            canvas.texts.append(Text(x + _GUTTER, y + 14, "small", words))
        elif row < 0:
            if not beside:
                continue
            canvas.rects.append(Rect(x + 1, y, width - 2, _DOWN, "gap"))
        elif lines.is_border(source, row + 1):
            words = lines.label(source, row + 1).rpartition(":")[0]
            canvas.texts.append(Text(x + _GUTTER, y + 14, "small", words))
        else:
            line = row + 1
            where[line] = y + _DOWN / 2
            if row in side.changed:
                css = "added" if number else "removed"
                canvas.rects.append(Rect(x + 1, y, width - 2, _DOWN, css))
            if line in flags:
                canvas.texts.append(Text(x + 24, y + 14, "bad", "\u26a1"))
            label = lines.label(source, line).rpartition(" ")[2]
            room = len(label) * _ACROSS
            canvas.texts.append(Text(x + _GUTTER - 10 - room, y + 14, "code n", label, room))
            marked = [side.file.lives[index] for index in lives.get(line, ())]
            ranges = [(*ends(life, text[row]), PLACES[life.place].css, life.kind)
                      for life in marked]  # fmt: skip
            _line(canvas, text[row], ranges, tokens.get(line, ()), (x + _GUTTER, y + 14))
        y += _DOWN
    y += 6
    canvas.rects.insert(back, Rect(x, top, width, y - top, "pane"))
    if not number:
        _arrows(canvas, block.clashes, block.path, where, x)
    return y


def _line(
    canvas: _Canvas, line: str, ranges: Sequence[tuple[int, int, str, str]],
    tokens: Iterable[tuple[int, int, str]], corner: tuple[float, float],
) -> None:  # fmt: skip
    """Draw one line of code, with its values marked."""
    x, y = corner
    for start, end, css, kind in _cut(line, ranges, tokens):
        column = lines.width(line[:start])
        if column >= _COLUMNS:
            canvas.texts.append(Text(x + _COLUMNS * _ACROSS, y, "code cm", "\u2026", _ACROSS))
            return
        piece = line[start:end]
        spaces = len(piece) - len(piece.lstrip())
        column += lines.width(piece[:spaces], column)
        piece = visible(piece.strip()).replace("\t", " ")[: _COLUMNS - column]
        length = lines.width(piece) * _ACROSS
        if not piece:
            continue
        if kind:
            _value(canvas, x + column * _ACROSS, y, length, css, kind)
        canvas.texts.append(Text(x + column * _ACROSS, y, f"code {css}", piece, length))


def _cut(
    line: str, ranges: Sequence[tuple[int, int, str, str]],
    tokens: Iterable[tuple[int, int, str]],
) -> Iterator[tuple[int, int, str, str]]:  # fmt: skip
    """Yield the parts of a line: start, end, class, and the kind of a value or ""."""
    for start, end, index in lines.pieces(line, [(left, right) for left, right, *_ in ranges]):
        if index >= 0:
            yield start, end, ranges[index][2], ranges[index][3]
            continue
        at = start
        for left, right, css in tokens:
            left, right = max(left, at), min(right, end)
            if left < right:
                yield at, left, "", ""
                yield left, right, css, ""
                at = right
        yield at, end, "", ""


def _value(canvas: _Canvas, x: float, y: float, length: float, css: str, kind: str) -> None:
    """Draw what is behind and under the name of a value."""
    if kind != "device":
        canvas.rects.append(Rect(x - 1, y - 12, length + 2, 15, f"{css}-tint"))
    if kind in ("moved", "read"):
        canvas.rects.append(Rect(x - 1, y - 12, length + 2, 15, f"{css} frame"))
    canvas.paths.append(Path(f"M{x:.1f} {y + 4:.1f}h{length:.1f}", f"{css} under"))


def _arrows(
    canvas: _Canvas, clashes: Sequence[Clash], path: str, where: dict[int, float], x: float
) -> None:
    """Draw arrows in the margin, from where two values got their places to where they meet."""
    lane = 0
    drawn = set()
    for clash in clashes:
        to = where.get(clash.meeting.span.line, 0) if clash.meeting is not None else 0
        if not to or clash.meeting is None or clash.meeting.path != path:
            continue
        for at, place in ((clash.origin, clash.origin_place), (clash.other, clash.other_place)):
            if at is None or at.path != path or at.span.line not in where:
                continue
            start, css = where[at.span.line], PLACES[place].css
            if (start, to, css) in drawn or abs(start - to) < 4:
                continue
            drawn.add((start, to, css))
            left = x + 18 - 4 * (lane % 4)
            lane += 1
            turn = 6 if to > start else -6
            canvas.paths.append(Path(
                f"M{x + 22} {start}Q{left} {start} {left} {start + turn}V{to - turn}"
                f"Q{left} {to} {x + 20} {to}", f"{css} arrow",
            ))  # fmt: skip
            canvas.paths.append(Path(f"M{x + 25} {to}l-7 -4v8z", f"{css} tip"))
            canvas.paths.append(
                Path(f"M{x + 19} {start}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0", f"{css} tip")
            )
