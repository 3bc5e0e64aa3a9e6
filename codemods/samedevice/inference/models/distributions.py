"""torch.distributions: where a distribution's parameters are, its samples and results are too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samedevice.inference import contents
from samedevice.inference.models import Call, attributes, kind, methods, model
from samedevice.inference.nodes import Location
from samedevice.inference.objects import Instance
from samedevice.inference.values import UNKNOWN, Arg, Doubt, Tensor, Value
from samedevice.torchfacts import Fact

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: Attributes that are tensors. Source: the properties and `arg_constraints` of torch.distributions.
TENSORS = frozenset((
    "mean", "mode", "variance", "stddev", "probs", "logits", "loc", "scale", "rate",
    "concentration", "concentration0", "concentration1", "covariance_matrix", "precision_matrix",
    "scale_tril", "low", "high", "df", "total_count", "temperature", "cov_factor", "cov_diag",
))  # fmt: skip
#: Attributes that are distributions of the same tensors.
PARTS = frozenset(("base_dist", "mixture_distribution", "component_distribution"))


def parameters(given: Arg) -> list[tuple[Tensor, Location]]:
    """Return what stands for a distribution's tensors; the object itself cannot be moved."""
    value, where = given
    if isinstance(value, Instance) and value.family == "distribution" and value.node is not None:
        return [(Tensor(value.node).doubted(Doubt.OTHER), where)]
    return []


@model("torch.distributions.kl_divergence", "torch.distributions.kl.kl_divergence")
def divergence(run: Interpreter, call: Call) -> Value:
    """The parameters of both distributions meet."""
    operands = [p for given in (*call.args, *call.kwargs.values()) for p in parameters(given)]
    return run.operate(operands, call.spot, True) if operands else UNKNOWN


@attributes("distribution")
def distribution_attribute(
    run: Interpreter, owner: Instance, attr: str, spot: Location
) -> Value | None:
    """A parameter or moment is where the distribution is."""
    if attr in PARTS:
        return owner
    return Tensor(owner.node) if attr in TENSORS and owner.node is not None else None


@methods("distribution")
def distribution_method(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    """Samples are where the parameters are, and so must be what a probability is asked of."""
    if owner.node is None:
        return UNKNOWN
    if name == "expand":
        return owner
    operands = [
        p for v, w in (*call.args, *call.kwargs.values()) for p in contents.tensors_in(v, w)
    ]
    if operands:
        return run.operate([(Tensor(owner.node), call.spot), *operands], call.spot, True)
    return Tensor(owner.node)


@kind("distribution")
def construct(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """A distribution: its parameters must agree, and its samples are where they are."""
    given = [*call.args, *call.kwargs.values()]
    operands = [p for v, w in given for p in contents.tensors_in(v, w)]
    operands += [p for each in given for p in parameters(each)]
    made = Instance("distribution", name, fact=fact)
    if operands:
        made.node = run.operate(operands, call.spot, True).node
    return made
