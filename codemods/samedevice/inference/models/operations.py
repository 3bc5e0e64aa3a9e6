"""Functions whose tensors must agree, or be on the host, or that only ask something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samedevice.inference import arithmetic, classes, contents, libraries, unexplained
from samedevice.inference.events import Amp, CudaOnly, CudaQuiet, Shared
from samedevice.inference.models import Call, factories, kind, plots
from samedevice.inference.nodes import Location, Place
from samedevice.inference.objects import Instance
from samedevice.inference.values import (
    ARRAY,
    SCALAR,
    UNKNOWN,
    Const,
    Device,
    Shown,
    Tensor,
    Value,
    always_tensor,
    surely_tensor,
)
from samedevice.torchfacts import Fact

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: Operations that are worth an accelerator by themselves.
HEAVY = frozenset(
    (
        "mm",
        "matmul",
        "bmm",
        "einsum",
        "addmm",
        "baddbmm",
        "conv1d",
        "conv2d",
        "conv3d",
        "linear",
        "dot",
        "mv",
        "tensordot",
    )  # fmt: skip
)


#: Parameters that take a list of tensors, by the names that torch has for them.
_LISTS = frozenset(("tensors", "sequences"))
#: Parameters that take a number in place of a tensor.
_NUMBERS = frozenset(("elements", "mean", "q", "repeats", "std", "test_elements"))


@kind("op", "view", "pack", "random")
def operation(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """An operation whose tensor operands must agree."""
    last = name.rpartition(".")[2]
    operands = _operands(run, name, fact, call)
    if not operands:
        if any(v is ARRAY for v, _ in call.args):
            return UNKNOWN
        return libraries.returned(fact, None, call.spot)
    first = operands[0][0]
    if fact.kind == "view" and last.endswith("_") and len(operands) == 1:
        factories.drawn(run, first.node, name, call)
        return first  # filled where it is, and given back: a parameter stays one
    for parameter, given in libraries.named(fact, call.args, call.kwargs).items():
        for value, where in given if fact.must_agree(parameter) else ():
            if fact.scalars:  # it may be a number
                unexplained.met(run, value, where, first, call.scope)
            else:
                libraries.undecided(run, value, where, first.node, call.scope)
    result = run.operate(operands, call.spot, fact.scalars)
    factories.drawn(run, result.node, name, call)
    if len(operands) == 1 and last in ("stack", "cat", "concat", "hstack", "vstack"):
        result.node.find().agrees = True  # the members of the list must agree
    if "out" in call.kwargs and isinstance(call.kwargs["out"][0], Tensor):
        run.graph.meet(
            result.node,
            call.spot,
            call.kwargs["out"][0].node,
            call.kwargs["out"][1],
            call.spot,
            run.function(),
        )
    if last in HEAVY:
        values = [tensor for tensor, _ in operands]
        arithmetic.multiplied(run, values, result.node, call.spot, call.scope)
    if fact.out in ("scalar", "none"):
        return SCALAR
    given = call.args[1:] if fact.parameter(0) in ("input", "self") else call.args
    if last in libraries.KEEPING_SHAPE:
        result.row = first.row
    return libraries.shaped(fact, result, name, given, call.kwargs)


def _operands(run: Interpreter, name: str, fact: Fact, call: Call) -> list[tuple[Tensor, Location]]:
    """Return the tensors that must agree, and note those that must be on the host."""
    operands: list[tuple[Tensor, Location]] = []
    fills = "fill" in name.rpartition(".")[2]
    for parameter, given in libraries.named(fact, call.args, call.kwargs).items():
        agree = fact.must_agree(parameter) and not (parameter == "value" and fills)
        for value, where in given:
            found = contents.tensors_in(value, where)
            listed = parameter in _LISTS and parameter in fact.params
            if listed and isinstance(value, Tensor):
                value.shown = Shown.LIST
            if agree:
                operands.extend(found)
                alone = f"*{parameter}" in fact.params and len(given) == 1  # a list, perhaps
                number = fact.scalars and parameter != "condition" or parameter in _NUMBERS
                known = parameter in fact.tensors or parameter == "#0"  # others may be numbers
                if known and not (number or alone):
                    for tensor, _ in found:
                        tensor.node.find().is_tensor = True
            if fact.must_be_on_host(parameter):
                libraries.demand_host(run, value, where, call.scope, name)
    return operands


@kind("query", "pure", "saveimage", "context", "cudaquiet", "cudaonly")
def query(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """A function that gives no tensor, or needs no agreement."""
    if name.endswith(("autocast", "GradScaler")):
        first = call.args[0] if call.args and ".cuda.amp" not in name else None
        kind = call.kwargs.get("device_type", first)
        run.record(Amp(call.spot, None, call.scope, name, kind=kind[0] if kind else None))
    elif fact.kind in ("cudaonly", "cudaquiet"):
        event = CudaOnly if fact.kind == "cudaonly" else CudaQuiet
        run.record(event(call.spot, None, call.scope, name))
        if name == "torch.cuda.current_device":
            node = run.graph.node(call.spot)
            run.graph.pin(node, Place.CENTRAL, call.spot)
            # a number, without a type
            return Device(node, call.spot, resolved=True, text=True, number=True)
    if name == "torch.is_tensor" and call.args and surely_tensor(call.args[0][0]):
        return Const(True)
    tensors = [p for v, w in call.args for p in contents.tensors_in(v, w)]
    if fact.out == "tensor" and tensors:
        return Tensor(tensors[0][0].node, scalar=True)
    if fact.out == "follows0" and tensors:
        return run.derived(tensors[0][0], call.spot)
    return libraries.returned(fact, None, call.spot)


@kind("to_numpy")
def to_numpy(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """A function that reads a tensor of the host as an array."""
    for value, where in call.args[:1]:
        libraries.demand_host(run, value, where, call.scope, name)
    return ARRAY


@kind("passthrough")
def passthrough(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """A function that returns its first argument, wrapped."""
    return call.args[0][0] if call.args else UNKNOWN


@kind("host")
def host_function(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """A function of another library: its tensors must be on the host."""
    for parameter, given in libraries.named(fact, call.args, call.kwargs).items():
        if fact.host and not fact.must_be_on_host(parameter):
            continue  # a rate, a name: no tensor, whatever it looks like
        if parameter in plots.LIMITS and plots.family(name) == "plot":
            continue
        for value, where in given:
            held = classes.contents(value) if isinstance(value, Instance) else None
            libraries.demand_host(run, held or value, where, call.scope, name)
    if fact.out == "hostobject":
        return Instance(plots.family(name), name, fact=fact)
    if fact.out == "hosttensor":
        tensors = [value for value, _ in call.args if isinstance(value, Tensor)]
        if tensors and all(map(always_tensor, tensors)):
            made = factories.created(run, Shared, name, fact, call.args, {}, call.spot, call.scope)
            return Tensor(made.node, scalar=all(t.scalar for t in tensors), site=made.site)
    return ARRAY if fact.out == "ndarray" else UNKNOWN
