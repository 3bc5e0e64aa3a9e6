"""In which order the cells of a notebook were run, and when that is the order of the program.

Execution counts tell when a cell was last run. The order of the file is what a new run from the top
does, so it is the one that counts. But where a cell uses a name that only a later cell makes, such
a run stops with a NameError; if the order of the counts makes each name in time, the program is the
one in that order.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

# Magics that make names which the notebook does not show.
_BRINGS_NAMES = re.compile(r"%(?:run|pylab|load|store|reset|macro)\b")
_ALWAYS = frozenset(dir(builtins)) | {
    "__name__", "__doc__", "In", "Out", "_", "__", "___", "exit", "quit", "get_ipython", "display",
}  # fmt: skip
_OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class RunOrder:
    """Cells that were run in another order than they stand in.

    `second` stands above `first` and was last run after it; both are indices. `taken` tells whether
    the cells are taken in the order in which they were run.
    """

    first: int
    second: int
    taken: bool

    def __str__(self) -> str:
        ran = f"cell {self.second + 1} was last run after cell {self.first + 1}"
        if self.taken:
            return (
                f"{ran}, and the cells only work so: they are taken in the order in which they ran"
            )
        return f"{ran}; the cells are taken in the order of the file"


@dataclass(frozen=True)
class Ran:
    """A cell: its index, its source, and which of the kernel's executions was its last.

    `count` is None for a cell that was not run, and `parse` returns None for code that Python
    cannot parse.
    """

    index: int
    source: str
    count: int | None
    parse: Callable[[], ast.Module | None]


def find(cells: Sequence[Ran]) -> RunOrder | None:
    """Return what contradicts the order of the file; None if nothing does."""
    latest: Ran | None = None
    for cell in cells:
        if cell.count is None:
            continue
        if latest is not None and latest.count is not None and cell.count < latest.count:
            return RunOrder(cell.index, latest.index, _is_program(cells))
        latest = cell
    return None


def _is_program(cells: Sequence[Ran]) -> bool:
    """Tell whether the cells only work in the order in which they were run."""
    full = [cell for cell in cells if cell.source.strip()]
    counts = {cell.count for cell in full}
    if None in counts or len(counts) < len(full):
        return False
    trees = [cell.parse() for cell in full]
    parsed = [
        _Names(cell.count or 0, _made(tree), _used(tree), bool(_BRINGS_NAMES.search(cell.source)))
        for cell, tree in zip(full, trees, strict=True)
        if tree is not None
    ]
    if len(parsed) < len(full):
        return False
    return _stops(parsed) and not _stops(sorted(parsed, key=lambda cell: cell.count))


@dataclass(frozen=True)
class _Names:
    """What a cell makes and uses; `brings` tells that it makes more than can be seen."""

    count: int
    made: set[str]
    used: set[str]
    brings: bool


def _stops(cells: Sequence[_Names]) -> bool:
    """Tell whether, in this order, a cell uses a name that only a later one makes."""
    made: set[str] = set()
    later = {name for cell in cells for name in cell.made}
    for cell in cells:
        made |= cell.made
        if cell.brings or "*" in made:
            return False  # from here on any name may be there
        if (cell.used - made) & later - _ALWAYS:
            return True
    return False


def _made(tree: ast.Module) -> set[str]:
    """Return all names that code binds, those of its functions and classes among them."""
    made: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            made.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            made.add(node.name)
        elif isinstance(node, ast.alias):
            made.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.arg):
            made.add(node.arg)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            made.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            made.add(node.rest)
    return made


def _used(tree: ast.Module) -> set[str]:
    """Return the names that code reads when it runs: not those in bodies of functions."""
    used: set[str] = set()
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            used.add(node.id)
        if isinstance(node, _OWN_SCOPE):
            defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
            waiting += [*defaults, *getattr(node, "decorator_list", ())]
        else:
            waiting += ast.iter_child_nodes(node)
    return used
