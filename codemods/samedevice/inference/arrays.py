"""Which expressions are NumPy arrays for certain, and what a tensor becomes beside one.

What NumPy computes may be a number as well (`np.sqrt(2)`), which meets a tensor anywhere. An array
does not: `tensor * array` is computed by NumPy, which reads the CPU's memory.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samedevice.inference import libraries, subscripts
from samedevice.inference.nodes import Location, Place
from samedevice.inference.objects import External, Func, Scope
from samedevice.inference.values import ARRAY, Tensor, Value, surely_tensor
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: Functions that make an array of what they are given; of these, a list at least.
_OF_LISTS = frozenset(("array", "asarray", "stack", "concatenate", "vstack", "hstack"))
#: Functions that make an array of its shape, or of a size.
_OF_A_SHAPE = frozenset(f"numpy.{name}" for name in ("zeros", "ones", "empty", "full"))
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


def is_element(
    run: Interpreter, owner: ast.expr, key: Value, index: ast.expr, scope: Scope
) -> bool:
    """Tell whether a subscript of an array is one element: it has a number for each dimension.

    What has no dimensions is stored there as a number, from any device.
    """
    parts = subscripts.indexes(key, index)
    if not all(subscripts.is_number(part, node) for part, node in parts):
        return False
    return _dimensions(run, owner, scope) == len(parts)


def _dimensions(run: Interpreter, node: ast.expr, scope: Scope) -> int | None:
    """Return how many dimensions an array has that is made by its size, None if that is open."""
    match node:
        case ast.Name(id=name):
            values = _values(name, scope)
            found = {
                _dimensions(run, value, scope) if not _is_copy(value, name) else 0
                for value in values
            } - {0}
            return found.pop() if len(found) == 1 else None
        case ast.Call(func=func, args=[size, *_]):
            callee = run.eval(func, scope)
            if not isinstance(callee, External) or callee.name not in _OF_A_SHAPE:
                return None
            if isinstance(size, (ast.Tuple, ast.List)):
                return len(size.elts)
            return 1 if subscripts.is_number(run.eval(size, scope), size) else None
    return None


def _is_copy(value: ast.expr, name: str) -> bool:
    """Tell whether an array is made of itself: `losses = np.array(losses)`."""
    match value:
        case ast.Call(func=ast.Attribute(attr="array" | "asarray"), args=[ast.Name(id=known), *_]):
            return known == name
    return False


def _only_value(name: str, scope: Scope) -> ast.expr | None:
    """Return what a name is assigned, if there is one assignment and nothing else binds it."""
    values = _values(name, scope)
    return values[0] if len(values) == 1 else None


def _values(name: str, scope: Scope) -> list[ast.expr]:
    """Return what a name is assigned, nothing if it is bound in another way, too."""
    level: Scope | None = scope
    while level is not None:
        nodes = syntax.walk(level.node)
        stores = [
            n for n in nodes
            if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
            or isinstance(n, ast.arg) and n.arg == name
        ]  # fmt: skip
        if stores:
            given = [
                n.value for n in nodes
                if isinstance(n, ast.Assign) and any(t in stores for t in n.targets)
            ]  # fmt: skip
            return given if len(stores) == len(given) else []
        level = level.outer
    return []
