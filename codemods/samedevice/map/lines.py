"""Two versions of a file -> their lines beside each other, and which of them are worth showing."""

from __future__ import annotations

import io
import keyword
import tokenize
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from unicodedata import east_asian_width

from ..reading.source import Source
from ..report.diff import opcodes
from ..report.shell import UNSEEN

#: Lines shown around a finding, and around a change, where other lines are left out.
_AROUND, _BESIDE = 2, 1


@dataclass(frozen=True)
class Rows:
    """Lines of one side from 0, -1 where only the other side has one, and which of them differ."""

    lines: Sequence[int]
    changed: Collection[int] = ()


def aligned(before: Source | None, after: Source | None) -> tuple[Rows, Rows]:
    """Line up two versions of a file; None where there is none."""
    if before is None or after is None:
        left, right = (range(len(text(one))) if one is not None else () for one in (before, after))
        return Rows(left), Rows(right, right)
    rows: tuple[list[int], list[int]] = [], []
    changed: tuple[set[int], set[int]] = set(), set()
    for tag, a, b, c, d in opcodes(text(before), text(after)):
        rows[0].extend([*range(a, b), *[-1] * (d - c - (b - a))])
        rows[1].extend([*range(c, d), *[-1] * (b - a - (d - c))])
        if tag != "equal":
            changed[0].update(range(a, b))
            changed[1].update(range(c, d))
    return Rows(rows[0], changed[0]), Rows(rows[1], changed[1])


def near(sides: tuple[Rows, Rows], key: Collection[int]) -> set[int]:
    """Return the rows, counted as they stand, that are shown where only findings are.

    These are the lines before that `key` names (from 1) and those that differ, with some around.
    """
    found: set[int] = set()
    for side, rows in enumerate(sides):
        for at, line in enumerate(rows.lines):
            if not side and line + 1 in key:
                found.update(range(at - _AROUND, at + _AROUND + 1))
            elif line in rows.changed:
                found.update(range(at - _BESIDE, at + _BESIDE + 1))
    return found


def runs(shown: Collection[int], count: int) -> Iterator[tuple[int, int]]:
    """Yield the rows between those that are shown: the first one, and the one after the last."""
    start = 0
    for at in [*sorted(row for row in shown if 0 <= row < count), count]:
        if start < at:
            yield start, at
        start = at + 1


@cache
def text(source: Source) -> list[str]:
    """Return a file's lines; a notebook's magics as they were written."""
    lines = source.text.split("\n")
    if source.cell_of(1) is None:
        return lines[:-1] if lines and not lines[-1] else lines
    cells = {index: cell.split("\n") for index, cell in source.cells(source.text).items()}
    for number, line in enumerate(lines, 1):
        at = source.cell_of(number)
        if at is not None and "#%samedevice%" in line and 0 < at[1] <= len(cells[at[0]]):
            lines[number - 1] = cells[at[0]][at[1] - 1]
    return lines[:-1] if lines and not lines[-1] else lines


def tokens(source: Source) -> Mapping[int, Sequence[tuple[int, int, str]]]:
    """Return the comments, strings and keywords of each line."""
    found: dict[int, list[tuple[int, int, str]]] = {}
    lines = source.text.split("\n")
    try:
        for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
            kind = (
                "cm" if token.type == tokenize.COMMENT
                else "kw" if token.type == tokenize.NAME and keyword.iskeyword(token.string)
                else "st" if token.type == tokenize.STRING
                or tokenize.tok_name[token.type].startswith("FSTRING_M")
                else ""
            )  # fmt: skip
            if not kind:
                continue
            (line, start), (last, end) = token.start, token.end
            for at in range(line, last + 1):
                left = start if at == line else 0
                right = end if at == last else len(lines[at - 1])
                found.setdefault(at, []).append((left, right, kind))
    except (tokenize.TokenError, SyntaxError, IndexError):
        pass  # what parses for `ast` but not here stays plain
    return found


def pieces(line: str, marks: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Cut a line at marks that do not overlap: start, end, and the mark's index or -1."""
    at = 0
    for index, (start, end) in enumerate(marks):
        if start < at or end <= start:
            continue
        if at < start:
            yield at, start, -1
        yield start, min(end, len(line)), index
        at = min(end, len(line))
    if at < len(line):
        yield at, len(line), -1


def width(line: str, start: int = 0) -> int:
    """Return how many columns a line takes from `start`: tabs up to four, wide characters two."""
    if line.isascii() and "\t" not in line:
        return len(line)
    columns = start
    for character in line:
        if character == "\t":
            columns += 4 - columns % 4
        else:
            columns += 2 if east_asian_width(character) in "WF" else 1
    return columns - start + 7 * len(UNSEEN.findall(line))


def is_border(source: Source, line: int) -> bool:
    """Tell whether a line of a notebook is the one above a cell, which is in no cell."""
    cell = source.cell_of(line)
    return cell is not None and cell[1] == 0


def label(source: Source, line: int) -> str:
    """Return how people call a line: by its number, in a notebook that in its cell."""
    cell = source.cell_of(line)
    return str(line) if cell is None else f"cell {cell[0] + 1}:{cell[1]}"


def short(code: str, most: int) -> str:
    """Return code on one line, cut where it is longer than `most` characters."""
    code = " ".join(code.split())
    return code if len(code) <= most else code[: most - 1] + "\u2026"
