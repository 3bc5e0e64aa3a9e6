"""Cells of a notebook that stand alone: a reader runs one in a fresh kernel, without the others.

Such a cell imports once more what an earlier one has imported, and uses no name of another cell.
Cells that name no accelerator are converted with their notebook, which runs from its beginning.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence

from samedevice.reading import syntax
from samedevice.reading.project import Project
from samedevice.verify.edited import Edited

_ALWAYS = frozenset(dir(builtins)) | {"__name__", "display", "get_ipython"}


def leaning(
    before: Project, after: Project, path: str, edited: Edited
) -> Iterator[tuple[ast.AST, str]]:
    """Yield new uses of other cells' names in cells of a notebook that stood alone."""
    if not before.sources[path].is_notebook:
        return
    alone = _alone(_by_cell(before, path, edited.before))
    cells = _by_cell(after, path, edited.after)
    for number in alone & set(cells):
        made = {name for part in cells[number] for name in _bound(part)}
        for part in cells[number]:
            for node in syntax.walk(part):
                if isinstance(node, ast.Name) and edited.is_new(node) and node.id not in made:
                    if node.id not in _ALWAYS:
                        yield node, f"this cell runs without the others, which have `{node.id}`"


def _by_cell(project: Project, path: str, tree: ast.Module) -> dict[int, list[ast.stmt]]:
    """Return the statements of each cell, in the order in which the cells run."""
    source = project.sources[path]
    found: dict[int, list[ast.stmt]] = {}
    for statement in tree.body:
        cell = source.cell_of(statement.lineno)
        if cell is not None:
            found.setdefault(cell[0], []).append(statement)
    return found


def _alone(cells: dict[int, list[ast.stmt]]) -> set[int]:
    """Return the cells that import anew what they need, and need no other cell."""
    found: set[int] = set()
    imported: set[str] = set()
    for number, body in cells.items():
        own = {name for part in body for name in _imported(part)}
        bound = {name for part in body for name in _bound(part)}
        names_gpu = any("cuda" in ast.unparse(part) for part in body)
        if own & imported and names_gpu and _used(body) <= _ALWAYS | bound:
            found.add(number)
        imported |= own
    return found


def _used(body: Sequence[ast.stmt]) -> set[str]:
    nodes = (node for part in body for node in syntax.walk(part) if isinstance(node, ast.Name))
    return {node.id for node in nodes if isinstance(node.ctx, ast.Load)}


def _imported(part: ast.AST) -> Iterator[str]:
    for node in syntax.walk(part):
        if isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]


def _bound(part: ast.AST) -> Iterator[str]:
    """Yield all names that code binds, those in its functions among them."""
    yield from _imported(part)
    for node in syntax.walk(part):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.ExceptHandler(name=str(name)):
                yield name
