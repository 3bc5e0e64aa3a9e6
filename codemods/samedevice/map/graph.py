"""Files -> a drawing of how they import each other, what is where in each, and what moves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape

from ..places.graph import Place
from ..places.trace import NAMES, Life
from .model import File, layers

#: A box, the room between boxes across and down, at the edge for counts, and between programs.
_WIDTH, _HEIGHT, _ACROSS, _DOWN, _EDGE, _APART = 190, 74, 64, 20, 34, 48
#: How wide the drawing becomes before programs go below each other.
_PAGE = 1420
#: Files that are drawn; a larger project shows those with the most values.
_MOST = 60
#: Files in one column; more of the same layer get a column beside it.
_TALL = 6
_CLASSES = {
    Place.HOST: "h", Place.CENTRAL: "c", Place.FIXED: "x", Place.FOLLOWS: "f", Place.UNKNOWN: "u",
}  # fmt: skip


def draw(
    files: Mapping[str, File],
    after: Mapping[str, File],
    name_of: Callable[[str], str],
    id_of: Callable[[str], str],
    line_id: Callable[[str, int], str],
) -> str:
    """Return the drawing as SVG with links; the table of files says the same in words.

    With `after`, each file has a second bar and the moves of that version.
    """
    ranked = sorted(files, key=lambda path: -sum(files[path].counts.values()))[:_MOST]
    chosen = {path: files[path] for path in files if path in set(ranked)}
    places = _layout(chosen)
    width = max(x for x, _ in places.values()) + _WIDTH + _EDGE
    height = max(y for _, y in places.values()) + _HEIGHT + 12
    parts = [
        '<figure class="graph"><div class="scroll">',
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="group" '
        'aria-label="The files and their imports; the table below says the same in words">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>',
        *_edges(chosen, places),
        *(
            part
            for path, file in chosen.items()
            for part in _box(file, after.get(path), places[path], name_of, id_of, line_id)
        ),
        "</svg></div>",
        "<figcaption>An arrow leads from a file to one that it imports. "
        '<b class="in">\u2193</b> sites where values enter the device, '
        '<b class="out">\u2191</b> sites where they leave it',
    ]
    if after:
        parts[-1] += " after the fix; the upper bar is before it, the lower one after it"
    left = len(files) - len(chosen)
    more = f"; {left} files with fewer values are not drawn" if left else ""
    return "\n".join(parts) + more + ".</figcaption></figure>"


def _layout(files: dict[str, File]) -> dict[str, tuple[int, int]]:
    """Return the corner of each file's box: programs side by side, in shelves of one height."""
    places: dict[str, tuple[int, int]] = {}
    x, y, shelf = _EDGE, 12, 0
    programs = sorted(_programs(files), key=lambda program: -len(program))
    for program in programs:
        columns: list[list[str]] = []
        for column in layers(program):
            columns += [column[at : at + _TALL] for at in range(0, len(column), _TALL)]
        tallest = max(len(column) for column in columns)
        width = len(columns) * (_WIDTH + _ACROSS)
        if x > _EDGE and x + width > _PAGE:
            x, y, shelf = _EDGE, y + shelf, 0
        for across, column in enumerate(columns):
            top = (tallest - len(column)) * (_HEIGHT + _DOWN) // 2
            for down, path in enumerate(column):
                places[path] = x + across * (_WIDTH + _ACROSS), y + top + down * (_HEIGHT + _DOWN)
        x += width - _ACROSS + _APART
        shelf = max(shelf, tallest * (_HEIGHT + _DOWN))
    return places


def _programs(files: dict[str, File]) -> list[dict[str, File]]:
    """Return the files that imports connect, in either direction."""
    neighbours: dict[str, set[str]] = {path: set() for path in files}
    for path, file in files.items():
        for target in file.targets:
            if target in files:
                neighbours[path].add(target)
                neighbours[target].add(path)
    found: list[dict[str, File]] = []
    done: set[str] = set()
    for path in files:
        queue, program = [path], set()
        while queue:
            at = queue.pop()
            if at not in done:
                done.add(at)
                program.add(at)
                queue += neighbours[at]
        if program:
            found.append({path: files[path] for path in files if path in program})
    return found


def _edges(files: Mapping[str, File], places: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    for path, file in files.items():
        x, y = places[path]
        for target in file.targets:
            if target not in places:
                continue
            to_x, to_y = places[target]
            start, end = (x + _WIDTH, y + _HEIGHT // 2), (to_x, to_y + _HEIGHT // 2)
            if to_x <= x:  # beside it or back
                start, end = (x + _WIDTH // 2, y + _HEIGHT), (to_x + _WIDTH // 2, to_y)
                if to_y < y:
                    start, end = (x + _WIDTH // 2, y), (to_x + _WIDTH // 2, to_y + _HEIGHT)
                yield _curve(start, end, 0, (end[1] - start[1]) // 2 or 20)
            else:
                yield _curve(start, end, max((end[0] - start[0]) // 2, 30), 0)


def _curve(start: tuple[int, int], end: tuple[int, int], across: int, down: int) -> str:
    (x, y), (to_x, to_y) = start, end
    bend = f"{x + across} {y + down} {to_x - across} {to_y - down}"
    return f'<path class="edge" d="M{x} {y}C{bend} {to_x} {to_y}" marker-end="url(#tip)"/>'


def _box(
    file: File,
    after: File | None,
    corner: tuple[int, int],
    name_of: Callable[[str], str],
    id_of: Callable[[str], str],
    line_id: Callable[[str, int], str],
) -> Iterator[str]:
    x, y = corner
    name = _fitting(file.path.rpartition("/")[2], 24)
    bad = " bad" if file.clashes else ""
    yield f'<g class="box{bad}" transform="translate({x} {y})">'
    yield f'<rect class="back" width="{_WIDTH}" height="{_HEIGHT}" rx="8"/>'
    yield f'<a href="#{id_of(file.path)}">'
    yield f'<text class="name" x="12" y="21">{escape(name)}</text></a>'
    yield f"<title>{escape(_visible(name_of(file.path)))}</title>"
    modules = _fitting(", ".join(file.modules) or name_of(file.path).rpartition("/")[0], 27)
    yield f'<text class="modules" x="12" y="38">{escape(modules)}</text>'
    yield from _bar(file, 50 if after is None else 47, 10 if after is None else 7)
    if after is not None:
        yield from _bar(after, 57, 7)
    moves = file if after is None else after
    yield from _port(file, moves.enters, "in", "\u2193", line_id)
    yield from _port(file, moves.leaves, "out", "\u2191", line_id)
    if file.clashes:
        at = line_id(file.path, file.clashes[0].finding.span.line)
        count = len(file.clashes)
        yield f'<a href="#{at}" aria-label="{count} findings in {escape(name)}">'
        yield f'<text class="flag" x="{_WIDTH - 10}" y="21">\u26a1{count}</text></a>'
    yield "</g>"


def _bar(file: File, top: int, height: int) -> Iterator[str]:
    """Yield a bar with a part for each place, as long as its share."""
    counts = file.counts
    total = sum(counts.values())
    at, room = 12.0, _WIDTH - 24
    for place, css in _CLASSES.items():
        if counts[place]:
            length = room * counts[place] / total
            yield (
                f'<rect class="share {css}" x="{at:.1f}" y="{top}" width="{max(length - 1, 1):.1f}"'
                f' height="{height}" rx="2"><title>{counts[place]} {NAMES[place]}</title></rect>'
            )
            at += length


def _port(
    file: File, lives: Sequence[Life], css: str, sign: str, line_id: Callable[[str, int], str]
) -> Iterator[str]:
    if not lives:
        return
    lines = {life.span.line for life in lives}
    word = "enter the device" if css == "in" else "leave the device"
    y = 30 if css == "in" else 58
    yield f'<a href="#{line_id(file.path, lives[0].span.line)}" '
    name = escape(_visible(file.path.rpartition("/")[2]))
    yield f'aria-label="values {word} at {len(lines)} lines of {name}">'
    yield f'<text class="port {css}" x="-6" y="{y}">{sign}{len(lines)}</text></a>'


def _fitting(text: str, most: int) -> str:
    text = _visible(text)
    return text if len(text) <= most else text[: most - 1] + "\u2026"


def _visible(text: str) -> str:
    return re.sub(r"[^\x20-\x7e\xa1-\uffff]|[\u200b-\u202e\u2060-\u206f\ud800-\udfff]", "?", text)
