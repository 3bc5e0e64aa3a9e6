"""How a place in the code is written for people."""

from __future__ import annotations

from collections.abc import Mapping

from ..finding import Span
from ..reading.source import Source
from ..reading.source import printable as printable


def place(path: str, span: Span, sources: Mapping[str, Source]) -> str:
    """Return `path:line:column`, both from 1; in a notebook `path:cell 3:line:column`."""
    cell = cell_of(path, span, sources)
    if cell is None:
        return f"{printable(path)}:{span.line}:{span.column + 1}"
    column = span.column + sources[path].in_front(span.line) + 1
    return f"{printable(path)}:cell {cell[0]}:{cell[1]}:{column}"


def short_place(path: str, span: Span, sources: Mapping[str, Source]) -> str:
    """Return `place` without the column."""
    return place(path, span, sources).rpartition(":")[0]


def in_cell(path: str, span: Span, sources: Mapping[str, Source]) -> str:
    """Return "cell 3:2: " for a notebook's range and "" for others.

    It stands before a message whose place can only name the file.
    """
    cell = cell_of(path, span, sources)
    return "" if cell is None else f"cell {cell[0]}:{cell[1]}: "


def in_file(path: str, span: Span, sources: Mapping[str, Source]) -> Span | None:
    """Return where a range is in its file: in a notebook, in the JSON; None where that is unknown.

    Services that show findings beside the lines of files need these.
    """
    source = sources.get(path)
    if source is None:  # lines of a notebook's code are not lines of the file
        return None if path.endswith(".ipynb") else span
    return source.in_file(span)


def cell_of(path: str, span: Span, sources: Mapping[str, Source]) -> tuple[int, int] | None:
    """Return the notebook cell, counted from 1, and the line in it; None outside of notebooks.

    Between two cells is the line below the last one of the first.
    """
    source = sources.get(path)
    cell = None if source is None else source.cell_of(span.line)
    if source is None or cell is None:
        return None
    above = source.cell_of(span.line - 1) if cell[1] == 0 else None
    return (cell[0] + 1, cell[1]) if above is None else (above[0] + 1, above[1] + 1)
