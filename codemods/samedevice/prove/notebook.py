"""Run a notebook's code cells without Jupyter: read them, and split them into code objects.

Lines count through the code cells in order, each after one line of its own for the cell's border.
IPython's magics and shell lines do nothing here.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

_BORDER = "# cell {}\n"
_PYTHON_CELLS = frozenset({"capture", "debug", "memit", "prun", "time", "timeit", "wandb"})
_MAGIC = re.compile(r"^([ \t]*)([%!?].*)$", re.MULTILINE)
_ASSIGNED = re.compile(r"^([ \t]*[\w., ]+?=[ \t]*)([!%].*)$", re.MULTILINE)
_CELL_MAGIC = re.compile(r"\s*%%(\w*)")


def read(content: str) -> tuple[str, list[tuple[int, str]]]:
    """Return the joined code and the cells as (lines above the cell's first, Python source).

    Raises ValueError when `content` is no notebook.
    """
    text, parts = "", []
    for number, source in _cells(content):
        text += _BORDER.format(number)
        python = _to_python(source)
        parts.append((text.count("\n"), python))
        text += f"{python}\n"
    return text, parts


def cell_of(content: str, line: int) -> tuple[int, int] | None:
    """Return the cell that a line of the joined code is in (from 1, all kinds counted), and the
    line in it; None for no such line.

    Raises ValueError when `content` is no notebook.
    """
    above = 1
    for number, source in _cells(content):
        lines = source.count("\n") + 1
        if above < line <= above + lines:
            return number, line - above
        above += lines + 1
    return None


def _cells(content: str) -> Iterator[tuple[int, str]]:
    """Yield the cells that are run, with their numbers from 1 among the cells of all kinds."""
    try:
        data = json.loads(content)
        cells = data["cells"] if "cells" in data else data["worksheets"][0]["cells"]
        sources = [
            (number, source if isinstance(source, str) else "".join(source))
            for number, cell in enumerate(cells, 1)
            if cell["cell_type"] == "code"
            for source in [cell["source"] if "source" in cell else cell["input"]]
        ]
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise ValueError(f"not a Jupyter notebook ({error})") from None
    for number, source in sources:
        magic = _CELL_MAGIC.match(source)
        if not magic or magic[1] in _PYTHON_CELLS:
            yield number, source


def trees(
    parts: list[tuple[int, str]], path: str
) -> Iterator[tuple[ast.Module | ast.Interactive, str]]:
    """Yield (tree, mode) for `compile`: a cell's statements, then its last expression to be shown.

    Raises SyntaxError.
    """
    for above, source in parts:
        tree = ast.parse("\n" * above + source, path)
        shown = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        if isinstance(shown, ast.Expr) and source.rstrip().endswith(";"):
            tree.body.append(shown)  # a semicolon asks for silence
            shown = None
        yield tree, "exec"
        if shown is not None:
            yield ast.Interactive([shown]), "single"


def _to_python(source: str) -> str:
    """Turn IPython's own lines into statements that do nothing; the line count stays."""
    try:
        ast.parse(source)
    except SyntaxError:
        source = _MAGIC.sub(r"\1pass  # \2", source)
        source = _ASSIGNED.sub(r"\1None  # \2", source)
    return source
