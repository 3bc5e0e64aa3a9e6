"""Tools that run a model: summaries, profilers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samedevice.inference import calls, contents
from samedevice.inference.models import Call, model
from samedevice.inference.objects import Instance
from samedevice.inference.values import SCALAR, Value

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


@model("pytorch_model_summary.summary")
def summary(run: Interpreter, call: Call) -> Value:
    """Runs the model on the inputs that it is given."""
    if call.args and isinstance(call.args[0][0], Instance):
        calls.apply(run, call.args[0][0], call.args[1:], {}, call.spot, call.scope)
    return SCALAR


@model("thop.profile")
def profile(run: Interpreter, call: Call) -> Value:
    """Runs the model on a tuple of inputs."""
    given = call.kwargs.get("inputs") or (call.args[1] if len(call.args) > 1 else None)
    if given is not None and call.args and isinstance(call.args[0][0], Instance):
        inputs = contents.tensors_in(*given)
        calls.apply(
            run,
            call.args[0][0],
            [(value, where) for value, where in inputs],
            {},
            call.spot,
            call.scope,
        )
    return SCALAR
