"""Objects of libraries that hold tensors under names, and move them all by their own `.to`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samedevice.inference import devices
from samedevice.inference.models import Call, kind
from samedevice.inference.nodes import Location
from samedevice.inference.objects import Instance, Scope
from samedevice.inference.values import UNKNOWN, Arg, Tensor, Value
from samedevice.torchfacts import Fact

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


@kind("container")
def construct(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """An object that holds tensors under names, and moves them all by its own `.to`."""
    made = Instance("container", name, fact=fact)
    for index, (value, _) in enumerate(call.args):
        made.attrs[fact.parameter(index) or f"#{index}"] = value
    made.attrs.update({key: value for key, (value, _) in call.kwargs.items()})
    return made


def container_method(
    run: Interpreter,
    owner: Instance,
    name: str,
    args: list[Arg],
    kwargs: dict[str, Arg],
    spot: Location,
    scope: Scope,
) -> Value:
    """Call a method of an object that holds tensors: all that it does itself is move them."""
    if name not in ("to", "cuda", "cpu", "clone", "pin_memory", "contiguous", "coalesce"):
        return UNKNOWN
    made = Instance("container", owner.name, fact=owner.fact)
    made.attrs.update(owner.attrs)
    device = devices.moved_to(run, name, args, kwargs, spot, scope)
    for attr, value in owner.attrs.items():
        if device is not None and isinstance(value, Tensor):
            moved = value.copy()
            moved.node, moved.site = device.node, None
            made.attrs[attr] = moved
    return made
