"""What else moves when a module does: its parameters, its parts, and what it is yet to compute."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from samedevice.inference import contents
from samedevice.inference.graph import PlaceVar
from samedevice.inference.objects import Instance, Union
from samedevice.inference.values import Dict, Seq, Tensor, Value

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


def tree(module: Instance) -> set[Instance]:
    """Return a module and all that moves when it does."""
    found, open_ = {module}, [module]
    while open_:
        new = set(_parts(open_.pop())) - found
        found |= new
        open_ += new
    return found


def _parts(owner: Instance) -> Iterator[Instance]:
    held = [value for value in owner.attrs.values() if isinstance(value, (Instance, Union))]
    yield from owner.parts
    for value in held:
        yield from contents.modules_in(value)


def rebase(run: Interpreter, owner: Instance, node: PlaceVar) -> None:
    """Put a module, its parameters and its parts somewhere else from now on."""
    before = owner.node.find() if owner.node is not None else None
    run.trail.place(owner, node)
    arrive(run, owner)
    for part in _parts(owner):
        if part.node is not node:
            rebase(run, part, node)
    for attr, child in list(owner.attrs.items()):
        moved = _carried(child, before, node)
        if moved is not child:
            run.trail.put(owner.attrs, attr, moved)


def _carried(value: Value, before: PlaceVar | None, node: PlaceVar) -> Value:
    """Return what a module holds with those of its tensors moved that are where it was."""
    if isinstance(value, Tensor) and value.node.find() is before:
        moved = value.copy()
        moved.node = node
        return moved
    if isinstance(value, Seq | Dict) and any(_is_at(held, before) for held in value.members()):
        return _each(value, lambda held: _carried(held, before, node))
    return value


def _is_at(value: Value, place: PlaceVar | None) -> bool:
    return isinstance(value, Tensor) and value.node.find() is place


def _each(value: Seq | Dict, change: Callable[[Value], Value]) -> Value:
    """Return a container of what `change` makes of its members."""
    element = None if value.element is None else change(value.element)
    if isinstance(value, Dict):
        return Dict({key: change(held) for key, held in value.items.items()}, element)
    items = None if value.items is None else [change(held) for held in value.items]
    return Seq(value.kind, items, element)


def arrive(run: Interpreter, owner: Instance) -> None:
    """Say that what a module will compute is where it is by now."""
    for node in owner.awaited:
        run.graph.same(node, owner.node or node)
    owner.awaited.clear()


def along(run: Interpreter, owner: Instance, value: Value) -> Value:
    """Return what a module holds as it is where the module is: its own `_apply` moves it, too."""
    if isinstance(value, Tensor):
        assert owner.node is not None
        run.graph.batch(value.node, owner.node)
        return Tensor(owner.node, scalar=value.scalar)
    if isinstance(value, Seq | Dict):
        return _each(value, lambda held: along(run, owner, held))
    return value
