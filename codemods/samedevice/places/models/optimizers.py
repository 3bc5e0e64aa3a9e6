"""torch.optim: an optimizer keeps what it optimizes in groups, and state beside each parameter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from samedevice.places.expressions import Arg
from samedevice.places.models import Call, methods, model
from samedevice.places.models.stdlib import copied
from samedevice.places.values import NONE, SCALAR, UNKNOWN, Dict, Func, Iter, Obj, Seq, Value

if TYPE_CHECKING:
    from samedevice.places.library import Library


def begin(run: Library, owner: Obj, given: Arg, defaults: Value) -> None:
    """Give an optimizer its groups: `params`, which are where they were, and the settings."""
    value, where = given
    member = run.iterate(value, where, run.files[where.path])
    group = Dict()
    if isinstance(member, Dict):
        group.items.update(member.items)
        inner = member.items.get("params")
        if isinstance(inner, (Seq, Iter)):
            member = run.iterate(inner, where, run.files[where.path])
    for name in defaults.items if isinstance(defaults, Dict) else ():
        group.items.setdefault(name, SCALAR)
    group.items["params"] = Seq("list", None, member)
    run.trail.put(owner.attrs, "param_groups", Seq("list", None, group))
    run.trail.put(owner.attrs, "state", Dict(element=Dict()))


@model("torch.optim.swa_utils.AveragedModel")
def averaged(run: Library, call: Call) -> Value:
    """A copy of a model, where the model is when it is made, unless a device is named."""
    given = call.args[0] if call.args else call.kwargs.get("model")
    device = call.args[1] if len(call.args) > 1 else call.kwargs.get("device")
    made = copied(run, replace(call, args=[given])) if given is not None else UNKNOWN
    if isinstance(made, Obj) and made.family == "module":
        run.trail.put(made.attrs, "module", made)
        if device is not None and device[0] is not NONE:
            run.move_module(made, "to", [device], {}, call.spot, call.scope)
    return made


@methods("optimizer", inherited=True)
def optimizer_method(run: Library, owner: Obj, name: str, call: Call) -> Value:
    """What is loaded is copied; a closure is called."""
    if name == "__init__":
        given = call.args[0] if call.args else call.kwargs.get("params")
        others = call.args[1] if len(call.args) > 1 else call.kwargs.get("defaults")
        if given is not None:
            begin(run, owner, given, others[0] if others is not None else NONE)
    elif name == "load_state_dict":
        run.put_into_module(call.args)
    elif name == "step" and call.args and isinstance(call.args[0][0], Func):
        return run.apply(call.args[0][0], [], {}, call.spot, call.scope)
    return NONE
