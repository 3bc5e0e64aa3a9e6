"""What a call of unknown code gives, where it meets tensors: a tensor itself, perhaps.

It may as well be a number, which meets tensors anywhere. It counts as a tensor where the call was
given tensors that are not on the device, or where gradients are asked of a sum that has none but
its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from samedevice.inference.nodes import Location, Place, PlaceVar
from samedevice.inference.objects import Instance, Method, Scope
from samedevice.inference.open_events import MetUnknown, UnknownDevice
from samedevice.inference.sites import SiteGroup
from samedevice.inference.values import (
    UNKNOWN,
    Arg,
    Const,
    Device,
    Dict,
    Scalar,
    Tensor,
    Value,
    surely_tensor,
)
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter
    from samedevice.inference.solution import Solution

#: Names that are followed back to the call that they are taken from.
_HOPS = 3
#: What makes arrays, or tensors, in every library that has it under this name.
_FACTORIES = frozenset(
    ("arange", "as_tensor", "eye", "from_numpy", "full", "full_like", "linspace", "ones")
    + ("ones_like", "randn", "tensor", "zeros", "zeros_like")
)


def called(run: Interpreter, node: ast.Call, args: list[Arg], kwargs: dict[str, Arg]) -> None:
    """Note a call of which nothing is known, with the places of the tensors that it is given."""
    given = (*args, *kwargs.values())
    run.answers[node] = [v.node for v, _ in given if isinstance(v, Tensor) and surely_tensor(v)]
    device = next((value for value, _ in given if isinstance(value, Device)), None)
    if device is not None:
        run.placed[node] = device.node


def bound(targets: list[ast.expr], value: ast.expr, scope: Scope) -> None:
    """Note the names that something unknown is bound to."""
    for target in targets:
        for each in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
            if isinstance(each, ast.Name):
                scope.answers[each.id] = value


def placed(run: Interpreter, node: ast.AST, scope: Scope) -> PlaceVar | None:
    """Return the place of the device that the call was given from which something is taken."""
    calls = (run.placed.get(step) for step in _steps(node, scope))
    return next((device for device in calls if device is not None), None)


def met(
    run: Interpreter, value: Value, spot: Location, tensor: Value, scope: Scope,
    matrices: bool = False,
) -> None:  # fmt: skip
    """Note that something unknown enters an operation with a tensor; `matrices`: no number can."""
    if value is not UNKNOWN or not isinstance(tensor, Tensor) or not surely_tensor(tensor):
        return
    if matrices or _is_sliced(spot.node) or _is_made(spot.node, scope):
        run.record(MetUnknown(spot, tensor.node, scope, data=True))
        return
    source = _source(spot.node, scope)
    if source in run.answers and not _stops(run, source, scope):
        given = tuple(run.answers[source])
        run.record(MetUnknown(spot, tensor.node, scope, given=given))


def _is_sliced(node: ast.AST) -> bool:
    """Tell whether an expression is no number, whatever it is taken from: `pos[:n]`."""
    match node:
        case ast.Subscript(slice=ast.Slice()):
            return True
        case ast.Subscript(slice=ast.Tuple(elts=parts)):
            return any(isinstance(part, ast.Slice) for part in parts)
        case ast.UnaryOp(operand=inner):
            return _is_sliced(inner)
    return False


def _is_made(node: ast.AST, scope: Scope) -> bool:
    """Tell whether a call makes what has elements, whatever module it is asked of: `xp.ones(3)`."""
    for _ in range(_HOPS):
        if isinstance(node, ast.Name) and node.id in scope.answers:
            node = scope.answers[node.id]
    match node:
        case ast.Call(func=ast.Attribute(attr=attr)):
            return attr in _FACTORIES
    return False


def _stops(run: Interpreter, node: ast.AST, scope: Scope) -> bool:
    """Tell whether a program stops at a call: what is called begins with a name without meaning.

    What stands behind it is decided, then: no machine comes to it.
    """
    for _ in range(_HOPS):
        while isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
            node = node.func if isinstance(node, ast.Call) else node.value
        if not isinstance(node, ast.Name):
            return False
        if node.id not in scope.answers:
            tree = run.project.tree(scope.path)
            return tree is not None and syntax.is_undefined(tree, node.id)
        node = scope.answers[node.id]
    return False


def is_of_call(value: Value, node: ast.AST, scope: Scope) -> bool:
    """Tell whether something that is no device as far as is known was computed, or what a call has
    given."""
    if isinstance(value, Method):  # or an attribute that got its name from what the program read
        owner = value.receiver
        return (
            isinstance(owner, Const) or isinstance(owner, Instance) and bool(owner.attrs.patterns)
        )
    if isinstance(value, Scalar):
        return True
    source = _source(node, scope) if value is UNKNOWN else None
    if isinstance(source, ast.Name):  # a mapping that the program fills with what it reads
        held = scope.lookup(source.id)
        return isinstance(held, Dict) and held.element is UNKNOWN and not held.items
    return isinstance(source, ast.Call)


def _source(node: ast.AST, scope: Scope) -> ast.AST:
    """Return the call that an expression, or a name in it, is taken from."""
    *_, last = _steps(node, scope)
    return last


def _steps(node: ast.AST, scope: Scope, hops: int = _HOPS) -> Iterator[ast.AST]:
    """Yield an expression, what it is taken from, and so on."""
    yield node
    match node:
        case ast.Call(func=ast.Attribute(value=inner)) if _is_taken(inner, scope):
            yield from _steps(inner, scope, hops)
        case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.UnaryOp(operand=inner):
            yield from _steps(inner, scope, hops)
        case ast.Name(id=name) if hops and name in scope.answers:
            yield from _steps(scope.answers[name], scope, hops - 1)


def _is_taken(node: ast.AST, scope: Scope) -> bool:
    """Tell whether an object is taken from what a call has given: `model(x).squeeze()`."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return isinstance(node, ast.Call) or isinstance(node, ast.Name) and node.id in scope.answers


def undecided(solution: Solution) -> Iterator[SiteGroup]:
    """Return where what unknown code gives is a device, or meets it and counts as a tensor."""
    for unknown in solution.groups(UnknownDevice):
        if not any(site.callers_unknown for site in unknown.sites):
            yield unknown
    groups = list(solution.groups(MetUnknown))
    if not groups:
        return
    run = solution.interpreter
    trained = {node.find() for node in run.leaves}
    asked = {node.find() for node in run.differentiated} - trained
    for group in groups:
        for site in group.sites:
            if site.callers_unknown or solution.place(site.node) is not Place.CENTRAL:
                continue
            assert site.node is not None
            if site.data:
                if group.spot.path in solution.policy.converting:
                    yield group
                    break
                continue
            elsewhere = any(solution.place(node) is not Place.CENTRAL for node in site.given)
            if elsewhere or _is_data(site.node) and site.node.find() in asked:
                yield group
                break


def _is_data(node: PlaceVar) -> bool:
    """Tell whether a value is computed from nothing else, so that it has no gradient of its own."""
    return not node.find().flows_from
