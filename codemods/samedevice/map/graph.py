"""Files -> a drawing of how they import each other, what is where in each, and what moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor

from ..inference.nodes import Place
from ..report.shell import visible
from .look import PLACES
from .model import File
from .names import Names

#: A box at least and at most, its height, the room between boxes, at the edge, between programs.
_NARROW, _WIDEST, _HEIGHT, _ACROSS, _DOWN, _EDGE, _APART = 150, 340, 74, 56, 20, 6, 40
#: How wide the drawing becomes before programs go below each other.
_PAGE = 1240
#: Boxes of one drawing; the files of a larger project are drawn by folder.
_MOST = 15
#: Boxes in one column, and columns; more of the same layer get a column beside it.
_TALL, _COLUMNS = 6, 6
#: How wide a letter of a name and one of a note is.
_LETTER, _SMALL = 7.9, 6.3
#: Letters of a note that may make a box wider.
_NOTE = 24


@dataclass
class Box:
    """A file, or a folder of files: what is written on it, and where it is.

    `lines` are addresses in the page: of its code, of its first finding, and of where a value is
    put on the device and taken off it.
    """

    key: str
    name: str
    note: str
    title: str
    before: Counter[Place]
    after: Counter[Place] | None
    findings: int = 0
    enters: int = 0
    leaves: int = 0
    lines: dict[str, str] = field(default_factory=dict)
    targets: list[str] = field(default_factory=list)
    x: int = 0
    y: int = 0
    width: int = _NARROW
    height: int = _HEIGHT
    program: int = 0

    @property
    def bars(self) -> Iterator[tuple[float, int, float, int, str, str]]:
        """Yield x, y, width, height, class and words of each part of its bars."""
        states = [self.before] if self.after is None else [self.before, self.after]
        height = 10 if len(states) == 1 else 7
        for number, counts in enumerate(states):
            total, at, room = sum(counts.values()), 12.0, self.width - 24
            for place, look in PLACES.items():
                if counts[place]:
                    length = room * counts[place] / total
                    words = f"{counts[place]} {look.name}"
                    yield at, 48 + number * 9, max(length - 1, 1), height, look.css, words
                    at += length


@dataclass(frozen=True)
class Edge:
    """An import: from one box to another, by their numbers, as a curve."""

    start: int
    end: int
    curve: str


@dataclass(frozen=True)
class Part:
    """A program of a drawing, and where it is: boxes that imports connect, with their numbers."""

    x: int
    y: int
    width: int
    height: int
    boxes: list[tuple[int, Box]]
    edges: list[Edge]


@dataclass(frozen=True)
class Graph:
    """A drawing and its size; `folders` tells that its boxes are folders."""

    width: int
    height: int
    boxes: list[Box]
    edges: list[Edge]
    folders: bool

    @property
    def parts(self) -> Iterator[Part]:
        """Yield the programs; a page moves them one below the other where there is no room."""
        for number in dict.fromkeys(box.program for box in self.boxes):
            boxes = [(at, box) for at, box in enumerate(self.boxes) if box.program == number]
            inside = [box for _, box in boxes]
            x, y = min(box.x for box in inside), min(box.y for box in inside)
            yield Part(
                x,
                y,
                max(box.x + box.width for box in inside) - x,
                max(box.y + box.height for box in inside) - y,
                boxes,
                [edge for edge in self.edges if self.boxes[edge.start].program == number],
            )


def draw(files: Mapping[str, File], after: Mapping[str, File], names: Names) -> Graph:
    """Lay out the files, or their folders when they are many.

    With `after`, each box has a second bar and the moves of that version.
    """
    groups = _groups(files, names)
    boxes = {key: _box(key, group, files, after, names) for key, group in groups.items()}
    of = {path: key for key, group in groups.items() for path in group}
    for path, file in files.items():
        box = boxes[of[path]]
        for target in file.targets:
            key = of.get(target, "")
            if key and key != box.key and key not in box.targets:
                box.targets.append(key)
    _lay_out(boxes)
    width = max((box.x + box.width for box in boxes.values()), default=0) + _EDGE
    height = max((box.y + _HEIGHT for box in boxes.values()), default=0) + _EDGE
    number = {key: at for at, key in enumerate(boxes)}
    edges = [
        Edge(number[box.key], number[target], _curve(box, boxes[target]))
        for box in boxes.values() for target in box.targets
    ]  # fmt: skip
    return Graph(width, height, list(boxes.values()), edges, len(groups) < len(files))


# -- what is in a box -----------------------------------------------------------------------


def _groups(files: Mapping[str, File], names: Names) -> dict[str, list[str]]:
    """Return what shares a box: single files, or when they are many those of a folder.

    Folders are told apart as deep as there is room for. Where that tells nothing, because most
    files are in one folder, those with findings and the largest ones are drawn, and one box has
    the rest.
    """
    if len(files) <= _MOST:
        return {path: [path] for path in files}
    folders = {path: names.name(path).split("/")[:-1] for path in files}
    for depth in range(max(map(len, folders.values())), 0, -1):
        groups: dict[str, list[str]] = {}
        for path, parts in folders.items():
            groups.setdefault("/".join(parts[:depth]) + "/", []).append(path)
        if len(groups) <= _MOST:
            if max(map(len, groups.values())) <= len(files) * 3 // 4:
                return dict(
                    (group[0], group) if len(group) == 1 else (key, group)
                    for key, group in groups.items()
                )
            break

    def weight(path: str) -> tuple[int, int]:
        return len(files[path].clashes), sum(files[path].counts.values())

    first = set(sorted(files, key=weight, reverse=True)[: _MOST - 1])
    rest = [path for path in files if path not in first]
    return {path: [path] for path in files if path in first} | {"*": rest}


def _box(
    key: str, group: Sequence[str], files: Mapping[str, File], after: Mapping[str, File],
    names: Names,
) -> Box:  # fmt: skip
    single = len(group) == 1 and key == group[0]
    before = sum((files[path].counts for path in group), Counter[Place]())
    now = [after[path] for path in group if path in after]
    later = sum((file.counts for file in now), Counter[Place]()) if after else None
    box = Box(key, *_words(key, group, files, names, single), before, later)
    box.findings = sum(len(files[path].clashes) for path in group)
    moves = now if after else [files[path] for path in group]
    side = "a" if after else "b"
    worst = next((path for path in group if files[path].clashes), group[0])
    box.lines["code"] = names.id(worst)
    if files[worst].clashes:
        box.lines["finding"] = names.line(worst, files[worst].clashes[0].finding.span.line)
    for file in moves:
        for word, lives in (("enters", file.enters), ("leaves", file.leaves)):
            if lives:
                setattr(box, word, getattr(box, word) + len({life.span.line for life in lives}))
                box.lines.setdefault(word, names.line(file.path, lives[0].span.line, side))
    note = ceil(min(len(box.note), _NOTE) * _SMALL) + 24 + _moves(box)  # modules may be many
    box.width = min(max(_NARROW, _room(box), note), _WIDEST)
    return box


def _room(box: Box) -> int:
    """Return how wide a box has to be for its name, and the number of findings beside it."""
    return ceil(len(box.name) * _LETTER) + 24 + 40 * bool(box.findings)


def _fit(box: Box) -> None:
    """Cut what is written on a box to its width."""
    box.name = _fitting(box.name, floor((box.width - _room(box)) / _LETTER) + len(box.name))
    box.note = _fitting(box.note, int((box.width - 24 - _moves(box)) / _SMALL))


def _moves(box: Box) -> int:
    """Return how wide the numbers of moves beside a note are."""
    return 34 * bool(box.enters) + 34 * bool(box.leaves)


def _words(
    key: str, group: Sequence[str], files: Mapping[str, File], names: Names, single: bool
) -> tuple[str, str, str]:
    """Return the name, the note and the title of a box."""
    if key == "*":
        return f"{len(group)} other files", "", ", ".join(map(names.shown, group[:40]))
    if not single:
        count = f"{len(group)} file" + "s" * (len(group) > 1)
        return visible(key) if key != "/" else "this folder", count, visible(key)
    folder, _, name = names.shown(key).rpartition("/")
    twice = sum(names.name(path).rpartition("/")[2] == name for path in files) > 1
    modules = ", ".join(map(visible, files[key].modules))
    return name, folder if twice else modules or folder, names.shown(key)


def _fitting(text: str, most: int) -> str:
    """Cut a text in its middle: names differ at both ends."""
    if len(text) <= most:
        return text
    head = (most - 1) // 2
    return f"{text[:head]}\u2026{text[len(text) - (most - 1 - head) :]}"


# -- where it is ----------------------------------------------------------------------------


def _lay_out(boxes: Mapping[str, Box]) -> None:
    """Give each box its corner: programs side by side, in shelves of one height."""
    x, y, shelf = _EDGE, _EDGE, 0
    largest_first = sorted(_programs(boxes), key=lambda program: -len(program))
    for number, program in enumerate(largest_first):
        columns: list[list[Box]] = []
        for column in _layers(program):
            columns += [column[at : at + _TALL] for at in range(0, len(column), _TALL)]
        tallest = max(len(column) for column in columns)
        widths = [max(box.width for box in column) for column in columns]
        width = sum(widths) + _ACROSS * (len(columns) - 1)
        if x > _EDGE and x + width > _PAGE:
            x, y, shelf = _EDGE, y + shelf, 0
        for column, wide in zip(columns, widths, strict=True):
            top = y + (tallest - len(column)) * (_HEIGHT + _DOWN) // 2
            for down, box in enumerate(column):
                box.x, box.y, box.width = x, top + down * (_HEIGHT + _DOWN), wide
                box.program = number
                _fit(box)
            x += wide + _ACROSS
        x += _APART - _ACROSS
        shelf = max(shelf, tallest * (_HEIGHT + _DOWN))


def _layers(program: Sequence[Box]) -> list[list[Box]]:
    """Put boxes in columns: each right of those that import it, circles aside."""
    targets = {box.key: set(box.targets) for box in program}
    depth = dict.fromkeys(targets, 0)
    for _ in range(_COLUMNS - 1):
        for key in targets:
            for target in targets[key]:
                if target in depth and key not in targets[target]:
                    depth[target] = max(depth[target], min(depth[key] + 1, _COLUMNS - 1))
    columns: list[list[Box]] = [[] for _ in range(_COLUMNS)]
    for box in program:
        columns[depth[box.key]].append(box)
    return [column for column in columns if column]


def _programs(boxes: Mapping[str, Box]) -> list[list[Box]]:
    """Return the boxes that imports connect, in either direction."""
    neighbours: dict[str, set[str]] = {key: set(box.targets) for key, box in boxes.items()}
    for key, box in boxes.items():
        for target in box.targets:
            neighbours[target].add(key)
    found: list[list[Box]] = []
    done: set[str] = set()
    for start in boxes:
        queue, program = [start], set[str]()
        while queue:
            at = queue.pop()
            if at not in done:
                done.add(at)
                program.add(at)
                queue += neighbours[at]
        if program:
            found.append([box for key, box in boxes.items() if key in program])
    return found


def _curve(box: Box, to: Box) -> str:
    """Return the path of an arrow from one box to another."""
    if to.x > box.x:
        start, end = (box.x + box.width, box.y + _HEIGHT // 2), (to.x, to.y + _HEIGHT // 2)
        across, down = max((end[0] - start[0]) // 2, 30), 0
    else:  # beside it or back
        start, end = (box.x + box.width // 2, box.y + _HEIGHT), (to.x + to.width // 2, to.y)
        if to.y < box.y:
            start = box.x + box.width // 2, box.y
            end = to.x + to.width // 2, to.y + _HEIGHT
        across, down = 0, (end[1] - start[1]) // 2 or 20
    return (
        f"M{start[0]} {start[1]}C{start[0] + across} {start[1] + down} "
        f"{end[0] - across} {end[1] - down} {end[0]} {end[1]}"
    )
