"""What else moves when a module does: its parameters, its parts, and what it is yet to compute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samedevice.places import contents
from samedevice.places.graph import PlaceVar
from samedevice.places.objects import Instance, Union
from samedevice.places.values import Tensor

if TYPE_CHECKING:
    from samedevice.places.interpret import Interpreter


def rebase(run: Interpreter, owner: Instance, node: PlaceVar) -> None:
    """Put a module, its parameters and its parts somewhere else from now on."""
    before = owner.node.find() if owner.node is not None else None
    owner.node = node
    arrive(run, owner)
    held = [value for value in owner.attrs.values() if isinstance(value, (Instance, Union))]
    for part in (*owner.parts, *(part for value in held for part in contents.modules_in(value))):
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
