"""Run a notebook's code cells without Jupyter: split them into code objects, and name their lines.

Lines count through the code cells in order, each after one line of its own for the cell's border;
so they do in `samedevice.reading.notebook`. People read them as cell and line in it. IPython's
magics and shell lines do nothing here.
"""

from __future__ import annotations

import ast
import traceback
import warnings
from collections.abc import Iterator

from samedevice.reading.notebook import Notebook


def cell_of(notebook: Notebook, line: int) -> tuple[int, int] | None:
    """Return the cell that a line is in (from 1, all kinds counted), and the line in it."""
    if line > notebook.text.count("\n"):
        return None
    place = notebook.cell_of(line)
    return (place[0] + 1, place[1]) if place and place[1] > 0 else None


def trees(notebook: Notebook, path: str) -> Iterator[tuple[ast.Module | ast.Interactive, str]]:
    """Yield (tree, mode) for `compile`: a cell's statements, then its last expression to be shown.

    Raises SyntaxError.
    """
    for above, source in notebook.cells:
        tree = ast.parse("\n" * above + source, path)
        shown = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        if isinstance(shown, ast.Expr) and source.rstrip().endswith(";"):
            tree.body.append(shown)  # a semicolon asks for silence
            shown = None
        yield tree, "exec"
        if shown is not None:
            yield ast.Interactive([shown]), "single"


def told_by_cell(
    error: traceback.TracebackException, path: str, notebook: Notebook
) -> traceback.TracebackException:
    """Name the lines of a notebook in a traceback by cell and line in it, and return it."""
    seen: set[int] = set()
    waiting: list[traceback.TracebackException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        waiting += [one.__cause__, one.__context__, *(getattr(one, "exceptions", None) or ())]
        for frame in one.stack:
            place = cell_of(notebook, frame.lineno or 0) if frame.filename == path else None
            if place is None:
                continue
            frame.line  # noqa: B018  # read now, while its number is the one of `path`
            last = getattr(frame, "end_lineno", None)
            if last is not None:
                frame.end_lineno = last - (frame.lineno or 0) + place[1]  # type: ignore[attr-defined]
            frame.filename, frame.lineno = f"{path}:cell {place[0]}", place[1]
    return error


def warn_by_cell(path: str, notebook: Notebook) -> None:
    """Name the lines of a notebook in warnings, too, by cell and line in it."""
    usual = warnings.formatwarning

    def formatted(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        line: str | None = None,
    ) -> str:
        place = cell_of(notebook, lineno) if filename == path else None
        if place is None:
            return usual(message, category, filename, lineno, line)
        code = line or notebook.text.split("\n")[lineno - 1]
        return usual(message, category, f"{path}:cell {place[0]}", place[1], code)

    warnings.formatwarning = formatted
