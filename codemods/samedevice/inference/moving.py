"""What else moves when a module does: its parameters, its parts, what it is yet to compute.

What it only keeps, in attributes and caches, does not.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from samedevice.inference import contents, iteration
from samedevice.inference.events import Remembered
from samedevice.inference.nodes import Location, PlaceVar
from samedevice.inference.objects import Class, Func, Instance, Scope
from samedevice.inference.values import DEEP, Dict, Seq, Tensor, Value, parameter_of
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: Values that are looked at for what a kept one is computed from.
_STEPS = 50


def rebase(run: Interpreter, owner: Instance, node: PlaceVar) -> None:
    """Put a module, its parameters and its parts somewhere else from now on."""
    run.trail.place(owner, node)
    arrive(run, owner)
    for part in owner.moving():
        if part.node is not node:
            rebase(run, part, node)
    for attr in sorted(owner.buffers & owner.attrs.keys()):
        run.trail.put(owner.attrs, attr, _carried(owner.attrs[attr], node))


def _carried(value: Value, node: PlaceVar) -> Value:
    """Return what a module registered with its tensors moved; parameters know their module."""
    if isinstance(value, Tensor) and not value.lent:
        moved = value.copy()
        moved.node = node
        return moved
    if isinstance(value, Seq | Dict):
        return _each(value, lambda held: _carried(held, node))
    return value


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


def leave_behind(run: Interpreter, made: Instance, spot: Location) -> None:
    """Note the tensors that a module which is being built leaves behind when it moves.

    Those are the ones in its lists and dicts, and all that its parts hold which are no modules.
    """
    is_module = made.family == "module"
    if made.family == "dataset" or not run.in_constructor:
        return
    for attr, value in made.attrs.items():
        if is_module and (attr in made.buffers or not isinstance(value, (Seq, Dict))):
            continue
        found = contents.tensors_in(value, spot)
        run.held += [tensor.node for tensor, _ in found if tensor.owner is None]


def moves_along(klass: Class, attr: str) -> bool:
    """Tell whether a module's own `_apply`, which every move calls, takes an attribute along."""
    own = klass.lookup("_apply")
    return isinstance(own, Func) and any(
        isinstance(node, ast.Attribute) and node.attr == attr and isinstance(node.ctx, ast.Store)
        for node in syntax.walk(own.node)
    )


def comes_late(run: Interpreter, owner: Instance, value: Tensor) -> bool:
    """Tell whether a tensor is registered with a module that has moved: it is where it was made."""
    if run.in_constructor or owner.node is None or not owner.has_moved():
        return False
    return value.node.find() is not owner.node.find()


def join_late(
    run: Interpreter, owner: Instance, attr: str, value: Tensor, spot: Location
) -> Tensor:
    """Return what a module holds that has moved already: it moves along from now on."""
    assert owner.node is not None
    owner.buffers.add(attr)
    owner.stateful = True
    if iteration.is_any_module(owner):  # nobody calls what stands for all parts
        run.graph.meet(value.node, spot, owner.node, spot, spot, run.function())
    return value


def gather(run: Interpreter, module: Instance) -> None:
    """Put what joined a module and its parts late where these are."""
    for part in module.tree():
        for attr in sorted(part.buffers & part.attrs.keys()):
            if part.node is not None and part.attrs[attr] in late(part):
                run.trail.put(part.attrs, attr, _carried(part.attrs[attr], part.node))


def late(module: Instance) -> list[Tensor]:
    """Return what joined a module after it had moved."""
    held = (module.attrs.get(attr) for attr in sorted(module.buffers))
    tensors = (value for value in held if isinstance(value, Tensor))
    return [tensor for tensor in tensors if tensor.node is not module.node]


def on_the_way(run: Interpreter, owner: Instance, spot: Location) -> Instance:
    """Return a module as its own `_apply` sees it: its tensors are where they were before."""
    made = twin(owner, run.graph.node(spot))
    assert made.node is not None
    for attr in sorted(made.buffers & made.attrs.keys()):
        made.attrs[attr] = _carried(made.attrs[attr], made.node)
    return made


def remember(run: Interpreter, value: Tensor, attr: str, scope: Scope, spot: Location) -> None:
    """Note that an attribute, or a container in it, keeps a tensor for later calls.

    It stays where it is, whatever moves by then.
    """
    queue, seen = [value.node.find()], {value.node.find()}
    while queue and len(seen) < _STEPS:
        root = queue.pop()
        if root.kept is not None:
            root.kept = True
        new = {source.find() for source in root.flows_from} - seen
        seen |= new
        queue += new
    run.record(Remembered(spot, value.node, scope, attr))


def twin(module: Instance, node: PlaceVar, depth: int = DEEP) -> Instance:
    """Return another module that was built in the same way, with its parts, all at `node`."""
    made = Instance("module", module.name, module.cls, module.fact, node)
    made.stateful, made.plain = module.stateful, module.plain
    made.args, made.kwargs = module.args, module.kwargs
    made.buffers = set(module.buffers)
    for attr, value in module.attrs.items():
        if isinstance(value, Instance) and value.family == "module" and value.parent is module:
            if depth:
                part = made.attrs[attr] = twin(value, node, depth - 1)
                part.parent = made
        elif isinstance(value, Tensor):
            made.attrs[attr] = _twin_tensor(value, module, made)
        else:
            made.attrs[attr] = value
    return made


def _twin_tensor(value: Tensor, module: Instance, made: Instance) -> Tensor:
    """Return a tensor of a module as its twin has it."""
    if value.lent and value.owner is module:
        return parameter_of(made)
    if module.node is None or value.node.find() is not module.node.find():
        return value
    assert made.node is not None
    same = value.copy()
    same.node = made.node
    return same
