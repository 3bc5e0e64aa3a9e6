"""Which expressions are NumPy arrays for certain, and what a tensor becomes beside one.

What NumPy computes may be a number as well (`np.sqrt(2)`), which meets a tensor anywhere. An array
does not: `tensor * array` is computed by NumPy, which reads the CPU's memory.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samedevice.inference import libraries
from samedevice.inference.nodes import Location, Place
from samedevice.inference.objects import External, Func, Scope
from samedevice.inference.values import ARRAY, Tensor, Value, surely_tensor
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: Functions that make an array of what they are given; of these, a list at least.
_OF_LISTS = frozenset(("array", "asarray", "stack", "concatenate", "vstack", "hstack"))
#: Functions that make an array of a size.
_OF_SIZES = frozenset(("zeros", "ones", "empty", "full", "arange", "linspace", "eye", "identity"))


def operated(
    run: Interpreter, node: ast.BinOp, left: Value, right: Value, scope: Scope
) -> Value | None:
    """Return what `tensor * array` gives, a tensor of the CPU; None for anything else."""
    if right is not ARRAY or not isinstance(left, Tensor) or not surely_tensor(left):
        return None
    if not _is_array(run, node.right, scope):
        return None
    libraries.demand_host(run, left, Location(scope.path, node.left), scope, "NumPy")
    spot = Location(scope.path, node)
    made = Tensor(run.graph.node(spot))
    run.graph.pin(made.node, Place.HOST, spot)
    return made


def _is_array(run: Interpreter, node: ast.expr, scope: Scope, depth: int = 4) -> bool:
    """Tell whether an expression of NumPy is an array, and no number."""
    if not depth:
        return False
    match node:
        case ast.Call(func=func, args=args):
            callee = run.eval(func, scope)
            name = callee.name if isinstance(callee, External) else ""
            if isinstance(callee, Func):
                made = _returned(callee)
                return made is not None and _is_array(run, made, callee.scope, depth - 1)
            last = name.rpartition(".")[2]
            if not name.startswith("numpy."):
                return False
            listed = bool(args) and isinstance(args[0], (ast.List, ast.Tuple, ast.ListComp))
            return last in _OF_SIZES or last in _OF_LISTS and listed
        case ast.BinOp(left=left, right=right):
            return any(_is_array(run, each, scope, depth - 1) for each in (left, right))
        case ast.Name(id=name):
            value = _only_value(name, scope)
            return value is not None and _is_array(run, value, scope, depth - 1)
    return False


def _returned(function: Func) -> ast.Call | None:
    """Return the call whose result a function of the program returns, if it does nothing else."""
    body = [] if isinstance(function.node, ast.Lambda) else function.node.body
    match body:
        case [ast.Return(value=ast.Call() as made)]:
            return made
    return None


def _only_value(name: str, scope: Scope) -> ast.expr | None:
    """Return what a name is assigned, if there is one assignment and nothing else binds it."""
    level: Scope | None = scope
    while level is not None:
        stores = [
            n for n in syntax.walk(level.node)
            if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
            or isinstance(n, ast.arg) and n.arg == name
        ]  # fmt: skip
        if stores:
            given = [
                n.value for n in syntax.walk(level.node)
                if isinstance(n, ast.Assign) and any(t is stores[0] for t in n.targets)
            ]  # fmt: skip
            return given[0] if len(stores) == 1 and given else None
        level = level.outer
    return None
