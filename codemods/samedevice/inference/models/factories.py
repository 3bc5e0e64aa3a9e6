"""Functions that make tensors and generators: torch.zeros, torch.tensor, torch.from_numpy, ..."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from samedevice.inference import arithmetic, conditions, contents, devices, libraries
from samedevice.inference.events import (
    Created,
    Creation,
    CudaOnly,
    Draw,
    GeneratorMade,
    GivenDevice,
    LegacyCreated,
    Placed,
    Shared,
)
from samedevice.inference.models import Call, attributes, kind
from samedevice.inference.nodes import Location, Place, PlaceVar
from samedevice.inference.objects import Instance, Scope
from samedevice.inference.values import (
    NONE,
    UNKNOWN,
    Arg,
    Const,
    Device,
    Tensor,
    Value,
    surely_tensor,
)
from samedevice.reading import syntax
from samedevice.torchfacts import Fact

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


#: What has one dimension, whatever it is given.
_ROWS = frozenset(
    f"torch.{name}" for name in ("arange", "range", "linspace", "logspace", "randperm")
)
#: What gives a number, whatever it is given.
_NUMBERS = frozenset(("float", "int", "len"))
#: What takes its size first.
_SIZED = frozenset(f"torch.{name}" for name in ("zeros", "ones", "empty", "full", "rand", "randn"))


def created(
    run: Interpreter, event: type[Creation], name: str, fact: Fact, args: list[Arg],
    kwargs: dict[str, Arg], spot: Location, scope: Scope,
) -> Tensor:  # fmt: skip
    """Return a new tensor, on the device that the call names or else on the host."""
    filled = kwargs.get("out")
    if filled is not None and isinstance(filled[0], Tensor):
        return filled[0]  # that is what it fills, where it is
    scalar = bool(args) and (
        _is_number(args[0][0]) or _computes_number(args[0][1].node)
        if name.endswith("tensor")
        else _is_sized_to_one(name, args[0][1])
    )
    given = kwargs.get("device")
    if given is None and fact.device and "device" in fact.params:
        index = fact.params.index("device")
        given = args[index] if len(args) > index else None
    others = kwargs.get("**")  # under keys that are not known
    if given is None and others is not None and fact.device:
        if not isinstance(others[0], Device):
            return Tensor(run.graph.node(spot), scalar=scalar)
        given = others
    if given is None and event is Created and run.inside:
        given = run.inside[-1]
    device = devices.as_device(run, *given, scope, sure=True) if given is not None else None
    if device is not None:
        result = Tensor(device.node, scalar=scalar)
        placed = Placed(spot, device.node, scope, name, device=device, workers=run.workers)
        run.record(placed)
        if device.node.find().pin is None or device.node.find().pin is Place.HOST:
            node = run.graph.node(spot)
            run.graph.flow(device.node, node)
            if device.of_value:
                node.kept = False
            result = Tensor(node, scalar=scalar)
            assert given is not None
            run.snapshot(run.record(GivenDevice(spot, node, scope, name, device=given)), scope)
    else:
        node = run.graph.node(spot)
        site = run.record(event(spot, node, scope, name, fact=fact, args=args, kwargs=kwargs))
        if run.in_constructor and isinstance(scope.self_value, Instance):
            site.has_state = scope.self_value.stateful
        run.snapshot(site, scope)
        result = Tensor(node, scalar=scalar, site=site)
        by_default = run.default_device and event is not Shared and not _has_its_place(name)
        if by_default or name.startswith("torch.cuda."):
            site.by_default = run.default_device
            run.graph.pin(node, Place.CENTRAL, spot)
    sized = args if len(args) == 1 or name == "torch.tensor" else [*args, *kwargs.values()]
    result.row = name in _ROWS or _is_sized_to_row(name, sized, scope.node)
    _options(run, result, name, Call(args, kwargs, spot, scope))
    return result


def _is_number(value: Value) -> bool:
    """Tell whether `torch.tensor` is given a number."""
    return isinstance(value, Const) and not isinstance(value.value, str)


def _computes_number(node: ast.AST) -> bool:
    """Tell whether an expression gives a number by what it says: `1 / len(layers)`."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, (int, float))
        case ast.BinOp(left=left, right=right):
            return _computes_number(left) and _computes_number(right)
        case ast.UnaryOp(operand=operand):
            return _computes_number(operand)
        case ast.Call(func=func):
            name = syntax.dotted(func)
            return name in _NUMBERS or name.startswith("math.")
    return False


def _is_sized_to_one(name: str, size: Location) -> bool:
    """Tell whether a factory is asked for a tensor without dimensions: `torch.zeros(())`."""
    node = size.node
    return name in _SIZED and isinstance(node, (ast.Tuple, ast.List)) and not node.elts


def _is_sized_to_row(name: str, given: list[Arg], around: ast.AST) -> bool:
    """Tell whether a factory is asked for one dimension, by code `around` it.

    That is `torch.randint(5, (n,))`, `torch.zeros(3)`, `torch.tensor([1, 2])`.
    """
    if name in ("torch.tensor", "torch.as_tensor", "torch.from_numpy") and given:
        node = given[0][1].node
        if _is_row_array(node) or isinstance(node, ast.Name) and node.id in _row_arrays(around):
            return True
        elts = node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
        return bool(elts) and all(isinstance(elt, ast.Constant) for elt in elts)
    if name not in _SIZED and name != "torch.randint":
        return False
    if name in _SIZED and name != "torch.full" and _numbers(given) == 1:
        return True
    sizes = [where.node for _, where in given if isinstance(where.node, (ast.Tuple, ast.List))]
    return [len(size.elts) for size in sizes] == [1] and not isinstance(
        sizes[0].elts[0], ast.Starred
    )


def _is_row_array(node: ast.AST) -> bool:
    """Tell whether code makes an array of one dimension: `np.arange(n)[::-1].copy()`."""
    while True:
        match node:
            case ast.Call(func=ast.Attribute(value=inner, attr="astype" | "copy" | "round")):
                node = inner
            case ast.Subscript(value=inner, slice=ast.Slice()):
                node = inner
            case ast.Call(func=ast.Attribute(attr=name, value=ast.Name(id="np" | "numpy"))):
                return name in ("arange", "geomspace", "linspace", "logspace")
            case _:
                return False


@syntax.per_node
def _row_arrays(around: ast.AST) -> frozenset[str]:
    """Return the names that code binds once, to an array of one dimension."""
    bound = Counter(
        node.id
        for node in syntax.walk(around)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    return frozenset(
        node.targets[0].id
        for node in syntax.statements(around)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and bound[node.targets[0].id] == len(node.targets) == 1
        and _is_row_array(node.value)
    )


def _numbers(given: list[Arg]) -> int:
    """Return how many sizes are written out or counted in a factory's arguments, 0 if unsure."""
    sizes = [(value, where.node) for value, where in given if not isinstance(value, Device)]
    sure = (
        isinstance(value, Const) and type(value.value) is int
        or isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"
        for value, node in sizes
    )  # fmt: skip
    return len(sizes) if all(sure) else 0


def _has_its_place(name: str) -> bool:
    """Tell whether a constructor's name is that of a type, which no default device changes."""
    return name.startswith("torch.") and name.endswith("Tensor") and name != "torch.Tensor"


def drawn(run: Interpreter, node: PlaceVar, name: str, call: Call) -> None:
    """Note that random numbers are drawn where a value is: its generator has to be there."""
    spot, generator = call.spot, call.kwargs.get("generator")
    if generator is not None and isinstance(generator[0], Instance):
        made = generator[0]
        if made.family == "generator" and made.node is not None:
            run.record(Draw(spot, node, call.scope, name, generator=made))
            run.graph.meet(node, spot, made.node, generator[1], spot, run.function(), "generator")


def _options(run: Interpreter, result: Tensor, name: str, call: Call) -> None:
    """Note what else a factory is told: `pin_memory`, `generator`, `requires_grad`."""
    kwargs, spot, scope = call.kwargs, call.spot, call.scope
    pinned = kwargs.get("pin_memory")
    if pinned is not None and isinstance(pinned[1].node, ast.Constant):
        if conditions.truth(pinned[0]):
            run.record(CudaOnly(pinned[1], None, scope, "pin_memory="))
    drawn(run, result.node, name, call)
    wants_grad = kwargs.get("requires_grad")
    if wants_grad is not None and conditions.truth(wants_grad[0]) is not False:
        result.leaf = True
        run.leaves.append(result.node)
        run.made_leaves.add(spot.node)
        arithmetic.compute_intensive(run, result.node, spot, scope)


@kind("create")
def create(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """A factory."""
    parameters = libraries.named(fact, call.args, call.kwargs)
    tensors = name == "torch.normal" and "size" not in parameters  # of means and deviations
    if tensors or any(
        isinstance(v, Tensor) for p in fact.tensors for v, _ in parameters.get(p, ())
    ):
        return like(run, name, fact, call)
    if name == "torch.tensor" and not (call.kwargs.keys() & {"device", "**"}):
        copied = call.args[0][0] if call.args else None
        if isinstance(copied, Tensor) and copied.node.find().is_tensor:
            if not (run.default_device or run.inside):
                return like(run, name, fact, call)  # a copy is where the tensor is
    return created(run, Created, name, fact, call.args, call.kwargs, call.spot, call.scope)


@kind("legacy")
def legacy(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """`torch.FloatTensor(...)` and the like."""
    sparse = name.startswith(("torch.sparse.", "torch.cuda.sparse."))
    if sparse and any(isinstance(v, Tensor) for v, _ in call.args):
        made = like(run, name, fact, call)  # it is where its indices and values are
        if isinstance(made, Tensor) and name.startswith("torch.cuda."):
            given, named, spot = call.args, call.kwargs, call.spot
            event = LegacyCreated(spot, made.node, call.scope, fact=fact, args=given, kwargs=named)
            event.name = name
            run.record(event)
        return made
    for value, where in call.args:
        # A tensor without dimensions is no size; `torch.Tensor` gives it back where it is.
        number = isinstance(value, Tensor) and value.scalar
        if isinstance(value, Tensor) and value.node.find().is_tensor and not run.default_device:
            if not number or surely_tensor(value) and name != "torch.Tensor":
                libraries.demand_host(run, value, where, call.scope, name)
    return created(run, LegacyCreated, name, fact, call.args, call.kwargs, call.spot, call.scope)


@kind("share")
def share(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """A tensor over an array's memory, or a tensor that is one already."""
    if call.args and isinstance(call.args[0][0], Tensor) and "device" not in call.kwargs:
        if call.args[0][0].node.find().is_tensor:
            return call.args[0][0]
    return created(run, Shared, name, fact, call.args, call.kwargs, call.spot, call.scope)


@kind("like")
def like(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """A creation that follows a tensor."""
    if "device" in call.kwargs and call.kwargs["device"][0] is not NONE:
        device = devices.as_device(run, *call.kwargs["device"], call.scope, sure=True)
        if device is not None:
            return Tensor(device.node)
    tensors = [p for v, w in (*call.args, *call.kwargs.values()) for p in contents.tensors_in(v, w)]
    if not tensors:
        return UNKNOWN
    if len(tensors) > 1:
        return run.operate(tensors, call.spot, True)
    return Tensor(tensors[0][0].node, scalar=tensors[0][0].scalar)


@kind("generator")
def generator(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """`torch.Generator(device)`."""
    made = Instance("generator", name, fact=fact)
    given = call.kwargs.get("device") or (call.args[0] if call.args else None)
    device = devices.as_device(run, *given, call.scope, sure=True) if given is not None else None
    made.node = device.node if device is not None else run.graph.node(call.spot)
    told = given if device is not None else None
    made.site = run.record(GeneratorMade(call.spot, made.node, call.scope, name, device=told))
    run.snapshot(made.site, call.scope)
    return made


@attributes("generator")
def of_generator(run: Interpreter, owner: Instance, attr: str, spot: Location) -> Value | None:
    """Where a generator draws: `torch.randn(3, generator=g, device=g.device)`."""
    if attr == "device" and owner.node is not None:
        return Device(owner.node, spot, resolved=True, of_value=True)
    return None
