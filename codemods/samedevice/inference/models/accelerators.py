"""torch.device, torch.cuda and their like: which devices there are, and which is the default."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samedevice.inference import devices
from samedevice.inference.events import CudaOnly, DefaultSet
from samedevice.inference.models import Call, kind
from samedevice.inference.nodes import Place
from samedevice.inference.values import (
    DEVICE,
    HOW_MANY,
    NONE,
    SCALAR,
    UNKNOWN,
    Const,
    Device,
    DeviceTest,
    Value,
)
from samedevice.torchfacts import Fact, raises_in

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


@kind("availability")
def availability(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """A question whether there is an accelerator."""
    if raises_in(name, run.project.torch):
        run.record(CudaOnly(call.spot, None, call.scope, name))
    if name.endswith("device_count"):
        return HOW_MANY
    return DeviceTest(True)


@kind("device")
def device(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """`torch.device(...)`, and the functions that set a default."""
    last = name.rpartition(".")[2]
    first = call.args[0] if call.args else next(iter(call.kwargs.values()), None)
    if last in ("set_default_device", "set_default_tensor_type"):
        named = devices.tensor_type(first[0]) if first is not None else ""
        if named and ".cuda." not in named:
            return NONE  # of the CPU: it says a dtype, and no device
        if first is not None and isinstance(first[0], Const) and not run.default_device:
            if str(first[0].value).startswith("cpu"):
                return NONE  # where new tensors are anyway
        run.tell_default()
        run.record(DefaultSet(call.spot, None, call.scope, last))
        return NONE
    index = call.args[1:2] or ([call.kwargs["index"]] if "index" in call.kwargs else [])
    if last == "device" and first is not None and index:
        if isinstance(first[0], Const) and DEVICE.fullmatch(str(first[0].value)):
            if not isinstance(index[0][0], Const) and isinstance(call.spot.node, ast.expr):
                return devices.indexed(run, call.spot.node, index[0][0], call.scope, text=False)
    if last == "device" and first is not None:
        value, where = first
        found = devices.as_device(run, value, where, call.scope, sure=True)
        if found is None:
            return UNKNOWN
        resolved = found.resolved or run.guarded > 0 or not isinstance(value, Const)
        return Device(found.node, call.spot, text=False, resolved=resolved, rank=found.rank)
    if last in ("current_accelerator", "current_device", "device", "xla_device"):
        node = run.graph.node(call.spot)
        run.graph.pin(node, Place.CENTRAL, call.spot)
        return Device(node, call.spot, resolved=True)
    return SCALAR
