"""torchdiffeq: solvers that call a function, or a module, with a time and a state.

From torchdiffeq 0.2: the times may be on the CPU, the solver takes them to the state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from samedevice.inference import calls, contents
from samedevice.inference.models import Call, model
from samedevice.inference.values import UNKNOWN, Seq, Tensor, Value

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


@model("torchdiffeq.odeint", "torchdiffeq.odeint_adjoint")
def solved(run: Interpreter, call: Call) -> Value:
    """The state at all times, where the state is in the beginning."""
    function = call.args[0] if call.args else call.kwargs.get("func")
    state = call.args[1] if len(call.args) > 1 else call.kwargs.get("y0")
    if function is None or state is None:
        return UNKNOWN
    found = [tensor for tensor, _ in contents.tensors_in(*state)]
    time: Value = Tensor(found[0].node, scalar=True) if found else UNKNOWN
    calls.apply(run, function[0], [(time, call.spot), state], {}, call.spot, call.scope)
    return _at_all_times(state[0])


def _at_all_times(state: Value) -> Value:
    if isinstance(state, Tensor):
        return Tensor(state.node)
    if isinstance(state, Seq) and state.items is not None:
        return Seq("tuple", [_at_all_times(member) for member in state.items])
    return UNKNOWN
