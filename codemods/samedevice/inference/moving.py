"""What else moves when a module does: its parameters, its parts, and what it is yet to compute."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from samedevice.inference import contents
from samedevice.inference.graph import PlaceVar
from samedevice.inference.objects import Instance, Union
from samedevice.inference.values import Tensor

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
        if isinstance(child, Tensor) and child.node.find() is before:
            moved = child.copy()
            moved.node = node
            run.trail.put(owner.attrs, attr, moved)


def arrive(run: Interpreter, owner: Instance) -> None:
    """Say that what a module will compute is where it is by now."""
    for node in owner.awaited:
        run.graph.same(node, owner.node or node)
    owner.awaited.clear()
