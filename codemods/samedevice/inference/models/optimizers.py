"""torch.optim: an optimizer keeps what it optimizes in groups, and state beside each parameter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from samedevice.inference import calls, contents
from samedevice.inference.events import GivenDevice, Optimizes
from samedevice.inference.models import Call, kind, methods, model, module_methods
from samedevice.inference.models.stdlib import copied
from samedevice.inference.objects import Func, Instance
from samedevice.inference.sites import LeftOut
from samedevice.inference.values import (
    NONE,
    SCALAR,
    UNKNOWN,
    Arg,
    Const,
    Dict,
    Iter,
    Seq,
    Tensor,
    Value,
)
from samedevice.torchfacts import Fact

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


#: What torch's optimizers and schedulers keep in a group beside its parameters: numbers.
_SETTINGS = (
    "lr", "initial_lr", "max_lr", "min_lr", "lr_decay", "weight_decay", "momentum", "dampening",
    "nesterov", "betas", "eps", "alpha", "rho", "lambd", "t0", "etas", "step_sizes", "amsgrad",
    "maximize", "centered", "base_momentum", "max_momentum", "momentum_decay",
)  # fmt: skip


def begin(run: Interpreter, owner: Instance, given: Arg, defaults: Value) -> None:
    """Give an optimizer its groups: `params`, which are where they were, and the settings."""
    value, where = given
    member = run.iterate(value, where, run.files[where.path])
    group = Dict()
    if isinstance(member, Dict):
        group.items.update(member.items)
        inner = member.items.get("params")
        if isinstance(inner, (Seq, Iter)):
            member = run.iterate(inner, where, run.files[where.path])
    for name in (*(defaults.items if isinstance(defaults, Dict) else ()), *_SETTINGS):
        group.items.setdefault(name, SCALAR)
    group.items["params"] = Seq("list", None, member)
    run.trail.put(owner.attrs, "param_groups", Seq("list", None, group))
    run.trail.put(owner.attrs, "state", Dict(element=Dict()))


@model("torch.optim.swa_utils.AveragedModel")
def averaged(run: Interpreter, call: Call) -> Value:
    """A copy of a model, where the model is when it is made, unless a device is named."""
    given = call.args[0] if call.args else call.kwargs.get("model")
    device = call.args[1] if len(call.args) > 1 else call.kwargs.get("device")
    made = copied(run, replace(call, args=[given])) if given is not None else UNKNOWN
    if isinstance(made, Instance) and made.family == "module":
        run.trail.put(made.attrs, "module", made)
        if device is not None and device[0] is not NONE:
            module_methods.move_module(run, made, "to", [device], {}, call.spot, call.scope)
    return made


@model("torch.optim.swa_utils.update_bn")
def updated_norms(run: Interpreter, call: Call) -> Value:
    """Call a model with all batches of a loader, which it takes to the device it is told."""
    given = call.args[1] if len(call.args) > 1 else call.kwargs.get("model")
    told = len(call.args) > 2 or "device" in call.kwargs
    if (
        given is not None
        and isinstance(given[0], Instance)
        and given[0].node is not None
        and not told
    ):
        node, left_out = run.graph.node(call.spot), Const(None, call.spot)
        node.is_tensor = True
        run.graph.meet(given[0].node, given[1], node, call.spot, call.spot, run.function())
        run.left_out[left_out] = LeftOut(call.spot, "device")
        run.record(
            GivenDevice(call.spot, node, call.scope, "update_bn", device=(left_out, call.spot))
        )
    return NONE


@methods("optimizer", inherited=True)
def optimizer_method(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    """What is loaded is copied; a closure is called."""
    if name == "__init__":
        given = call.args[0] if call.args else call.kwargs.get("params")
        others = call.args[1] if len(call.args) > 1 else call.kwargs.get("defaults")
        if given is not None:
            begin(run, owner, given, others[0] if others is not None else NONE)
    elif name == "load_state_dict":
        module_methods.put_into_module(call.args)
    elif name == "step" and call.args and isinstance(call.args[0][0], Func):
        return calls.apply(run, call.args[0][0], [], {}, call.spot, call.scope)
    return NONE


@kind("optimizer", "scheduler", "sampler")
def construct(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """Construct an optimizer: what it optimizes is trained."""
    made = Instance("optimizer", name, fact=fact)
    made.args = [v for v, _ in call.args]
    if call.args and fact.kind == "optimizer":
        begin(run, made, call.args[0], NONE)
    owners: list[Instance] = []
    unknown = False
    for value, where in call.args[:1]:
        unknown = value is UNKNOWN
        for tensor, _ in contents.tensors_in(value, where):
            trained(run, tensor)
            if tensor.owner is not None:
                owners.append(tensor.owner)
    if (owners or unknown) and fact.kind == "optimizer":
        run.record(Optimizes(call.spot, None, call.scope, name, modules=owners))
    return made


def trained(run: Interpreter, tensor: Tensor) -> None:
    """Note a tensor that is optimized: another tensor cannot take its place."""
    tensor.leaf = True
    run.leaves.append(tensor.node)
    if tensor.site is not None:
        tensor.site.trained = True
