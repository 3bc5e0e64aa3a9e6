"""Tools that run a model: summaries, profilers, exporters, drawings of its graph.

And what takes the memory of a tensor to code that is not Python's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from samedevice.inference import calls
from samedevice.inference.models import Call, methods, model
from samedevice.inference.objects import Instance
from samedevice.inference.open_events import GivenAway
from samedevice.inference.values import SCALAR, UNKNOWN, Arg, Seq, Value

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


@model("pytorch_model_summary.summary")
def summary(run: Interpreter, call: Call) -> Value:
    """Runs the model on the inputs that it is given."""
    _run(run, call, call.args[1:])
    return SCALAR


@model("thop.profile", "fvcore.nn.FlopCountAnalysis", "fvcore.nn.flop_count")
def profile(run: Interpreter, call: Call) -> Value:
    """Runs the model on a tuple of inputs."""
    _run(run, call, _given(call, "inputs"))
    return SCALAR


@model("torchinfo.summary")
def summary_of_data(run: Interpreter, call: Call) -> Value:
    """Runs the model on data that it is given, if it is."""
    given = call.kwargs.get("input_data")
    _run(run, call, _spread(given))
    return UNKNOWN


@model("torch.onnx.export")
def export(run: Interpreter, call: Call) -> Value:
    """Runs the model on an example."""
    _run(run, call, _given(call, "args"))
    return UNKNOWN


@model("torch.to_dlpack", "torch.utils.dlpack.to_dlpack")
def to_dlpack(run: Interpreter, call: Call) -> Value:
    """Gives the memory of a tensor to another library, which may be one for the CPU alone."""
    run.record(GivenAway(call.spot, None, call.scope, memory=True))
    return UNKNOWN


@model("torch.utils.tensorboard.SummaryWriter", "tensorboardX.SummaryWriter")
def writer(run: Interpreter, call: Call) -> Value:
    """Writes figures, and the graph of a model."""
    return Instance("writer")


@methods("writer")
def write(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    """Copies what it is given to the CPU itself; a model is run for its graph."""
    if name == "add_graph":
        _run(run, call, _given(call, "input_to_model"))
    return UNKNOWN


def _given(call: Call, name: str) -> list[Arg]:
    return _spread(call.args[1] if len(call.args) > 1 else call.kwargs.get(name))


def _spread(given: Arg | None) -> list[Arg]:
    """Return the inputs that a tuple, or one value, stands for."""
    if given is None:
        return []
    value, where = given
    members = value.items if isinstance(value, Seq) else None
    return [(value, where)] if members is None else [(member, where) for member in members]


def _run(run: Interpreter, call: Call, inputs: list[Arg]) -> None:
    """Call a model with what it is given. That alone is no reason to compute on a device."""
    made = call.args[0][0] if call.args else None
    if not isinstance(made, Instance) or not inputs:
        return
    concerned = [*made.wholes(), *made.parts]
    for each in concerned:
        concerned += [part for part in each.parts if part not in concerned]
    used = [(each, each.used) for each in concerned]
    seeds = len(run.seeds)
    calls.apply(run, made, inputs, {}, call.spot, call.scope)
    del run.seeds[seeds:]
    for each, before in used:
        each.used = before
