"""Code that hides GPUs from itself, by the environment: what asks CUDA before that is too early.

CUDA reads the variable when it is first asked for anything. What is written later hides nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from samedevice.inference.markers import VISIBLE
from samedevice.reading import syntax
from samedevice.verify.edited import Edited

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
#: What asks CUDA for something.
_ASKS = frozenset(("current_accelerator", "device_count", "is_available"))
_REASON = "CUDA is asked there before the code sets what it reads of the environment"


def asked_too_early(edited: Edited) -> Iterator[tuple[ast.AST, str]]:
    """Yield new questions to CUDA above where code writes what it reads of the environment."""
    homes: dict[ast.AST, int] | None = None
    for node in edited.new:
        match node:
            case ast.Call(func=ast.Attribute(attr=attr)) if attr in _ASKS:
                if homes is None:
                    homes = _last_written(edited)
                home = _home(edited, node)
                below = node.lineno < homes.get(home, 0)
                if below or home is edited.after and _is_written_later(edited.after, homes, node):
                    yield node, _REASON


def _is_written_later(tree: ast.Module, homes: Iterable[ast.AST], asks: ast.expr) -> bool:
    """Tell whether a function writes the variable that nothing has called when a file asks CUDA."""
    called = {
        syntax.dotted(node.func).rpartition(".")[2]
        for statement in syntax.certain(tree.body)
        if statement.lineno < asks.lineno and not isinstance(statement, (*_FUNCTION, ast.ClassDef))
        for node in syntax.walk(statement)
        if isinstance(node, ast.Call)
    }
    return any(getattr(home, "name", "") not in {*called, ""} for home in homes if home is not tree)


def _last_written(edited: Edited) -> dict[ast.AST, int]:
    """Return the functions, or the file, whose own code writes the variable, and where last."""
    found: dict[ast.AST, int] = {}
    for node in syntax.walk(edited.after):
        match node:
            case ast.Subscript(value=owner, slice=ast.Constant(value=str(key)), ctx=ast.Store()):
                pass
            case ast.Call(
                func=ast.Attribute(value=owner, attr="setdefault"),
                args=[ast.Constant(value=str(key)), *_],
            ):
                pass
            case _:
                continue
        if VISIBLE.fullmatch(key) and syntax.dotted(owner).rpartition(".")[2] == "environ":
            home = _home(edited, node)
            found[home] = max(found.get(home, 0), node.lineno)
    return found


def _home(edited: Edited, node: ast.AST) -> ast.AST:
    """Return the function around a node, or its file."""
    at = edited.parents.get(node)
    while at is not None and not isinstance(at, _FUNCTION):
        at = edited.parents.get(at)
    return at if at is not None else edited.after
