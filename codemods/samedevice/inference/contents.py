"""The tensors and modules in a value, and their places."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from samedevice.inference.nodes import Location, PlaceVar
from samedevice.inference.objects import Func, Instance, Partial, Union
from samedevice.inference.values import DEEP, NONE, Dict, Iter, Seq, Tensor, Value, surely_tensor


def tensors_in(
    value: Value, spot: Location, seen: set[Value] | None = None
) -> list[tuple[Tensor, Location]]:
    """Return the tensors in a value, each with the expression it is written as, if it is.

    A container in `seen` is passed over: it may hold itself, or the same one many times.
    """
    if isinstance(value, Tensor):
        return [(value, spot)]
    seen = set() if seen is None else seen
    if value in seen:
        return []
    if isinstance(value, Seq):
        seen.add(value)
        elts = getattr(spot.node, "elts", None)
        if value.items is not None and elts is not None and len(elts) == len(value.items):
            return [
                pair
                for member, elt in zip(value.items, elts, strict=True)
                for pair in tensors_in(member, Location(spot.path, elt), seen)
            ]
        if isinstance(spot.node, ast.ListComp) and surely_tensor(value.element or NONE):
            spot = Location(spot.path, spot.node.elt)
        return [p for member in value.members() for p in tensors_in(member, spot, seen)]
    if isinstance(value, Iter):
        return tensors_in(value.element, spot, seen)
    if isinstance(value, Dict):
        seen.add(value)
        return [p for member in value.members() for p in tensors_in(member, spot, seen)]
    return []


def modules_in(value: Value | None, seen: set[Value] | None = None) -> list[Instance]:
    """Return the modules in a value: one, or those in a container."""
    if isinstance(value, Instance):
        return [value] if value.family == "module" else []
    if isinstance(value, Union):
        return [o for o in value.options if isinstance(o, Instance) and o.family == "module"]
    if isinstance(value, Iter):
        return modules_in(value.element, seen)
    seen = set() if seen is None else seen
    if isinstance(value, (Seq, Dict)) and value not in seen:
        seen.add(value)
        return [child for part in value.members() for child in modules_in(part, seen)]
    return []


def places(value: Value, seen: dict[int, int], depth: int = DEEP) -> Iterator[PlaceVar]:
    """Yield the places of the tensors and modules that an argument brings along.

    Objects hold each other: `seen` has how deep each of them was looked into.
    """
    if seen.get(id(value), -1) >= depth:
        return
    seen[id(value)] = depth
    if isinstance(value, Tensor) or isinstance(value, Instance) and value.family == "module":
        if value.node is not None:
            yield value.node
        return
    held: Iterable[Value] = ()
    if isinstance(value, Instance):
        held = list(value.attrs.values())
    elif isinstance(value, (Seq, Dict)):
        held = value.members()
    elif isinstance(value, Iter):
        held = (value.element,)
    elif isinstance(value, Partial):
        held = (value.callee, *(one for one, _ in value.args))
    elif isinstance(value, Func) and is_closure(value):
        own = value.scope.names.values() if value.scope.func is not None else ()
        held = (*own, *((value.bound,) if value.bound is not None else ()))
    for member in held if depth else ():
        yield from places(member, seen, depth - 1)


def is_closure(func: Func) -> bool:
    """Tell whether a function brings values along: its object, or names of another function."""
    return func.scope.func is not None or func.bound is not None
