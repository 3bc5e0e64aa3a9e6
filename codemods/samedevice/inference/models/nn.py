"""Modules of libraries: how they are made and called; `nn.Parameter`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from samedevice import torchfacts
from samedevice.inference import (
    arithmetic,
    assignment,
    calls,
    conditions,
    contents,
    devices,
    iteration,
    libraries,
    moving,
)
from samedevice.inference.events import Built
from samedevice.inference.models import Call, kind, model, operations
from samedevice.inference.nodes import Location, Place
from samedevice.inference.objects import Instance, Scope, Union
from samedevice.inference.values import (
    ARRAY,
    UNKNOWN,
    Arg,
    Const,
    Dict,
    Doubt,
    Scalar,
    Seq,
    Tensor,
    Value,
    parameter_of,
)
from samedevice.torchfacts import Fact

#: Modules that are what they are given.
_CONTAINERS = frozenset(f"torch.nn.{name}" for name in ("ModuleDict", "ModuleList", "Sequential"))
#: What a library's module is told that the library then puts somewhere itself. Read from
#: transformers 4.57 (`modeling_utils.py`: a quantized model gets a `device_map` of its own).
_PLACED_BY = ("device_map", "load_in_4bit", "load_in_8bit", "quantization_config")

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


@kind("module")
def construct(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """Construct a module of a library, or wrap one."""
    if fact.out == "follows0" and call.args and not isinstance(call.args[0][0], Seq):
        inner = call.args[0][0]
        if "FullyShardedDataParallel" in name:
            for part in contents.modules_in(inner):
                part.moves.append(call.spot)  # it moves what it wraps
        if isinstance(inner, Union):
            return Union([_wrapped(each, name, fact) for each in inner.options])
        return _wrapped(inner, name, fact)
    made = Instance("module", name, fact=fact, node=run.graph.node(call.spot))
    made.attrs.update({k: v for k, (v, _) in call.kwargs.items() if k in libraries.REDUCES})
    made.stateful = fact.state
    spread_out(run, made, call.kwargs, call.spot)
    told = next(iter(libraries.named(fact, call.args, call.kwargs).get("device", ())), None)
    built = Built(call.spot, made.node, call.scope, name, module=made, device=told)
    made.site = run.record(built)
    made_on_default(run, made, call.spot, call.scope)
    run.snapshot(made.site, call.scope)
    run.modules.append(made)
    module_arguments(run, made, call.args, call.kwargs)
    if told is not None and fact.device:
        device = devices.as_device(run, *told, call.scope, sure=True)
        if device is not None and device.node.find().pin is not Place.HOST:
            made.moves.append(call.spot)
            assert made.node is not None
            run.graph.same(made.node, device.node)
    elif told is not None:
        made.moves.append(call.spot)  # what it does with that device is not known
    elif fact.chooses and made.node is not None:
        made.moves.append(call.spot)
        run.graph.pin(made.node, Place.CENTRAL, call.spot)
    return made


@model("clip.load")
def clip_loaded(run: Interpreter, call: Call) -> Value:
    """A model, and the transform of what it is given."""
    return Seq("tuple", [_named(run, "clip.load", call), UNKNOWN])


@model("open_clip.create_model_and_transforms")
def open_clip_loaded(run: Interpreter, call: Call) -> Value:
    """A model, and the transforms of what it is given in training and in evaluation."""
    made = _named(run, "open_clip.create_model_and_transforms", call)
    return Seq("tuple", [made, UNKNOWN, UNKNOWN])


def _wrapped(inner: Value, name: str, fact: Fact) -> Value:
    """Return a wrapper (`DataParallel`) of a module; what is no module is left as it is."""
    if not isinstance(inner, Instance):
        return inner
    wrapped = Instance("module", name, fact=fact, node=inner.node)
    wrapped.attrs["module"] = inner
    wrapped.parent = inner
    wrapped.stateful = inner.stateful
    if name.endswith(".DataParallel"):
        inner.spread = wrapped.spread = True
    wrapped.cls = inner.cls
    wrapped.attrs.update(inner.attrs)
    wrapped.buffers |= inner.buffers
    inner.parts.append(wrapped)
    return wrapped


def _named(run: Interpreter, name: str, call: Call) -> Value:
    fact = torchfacts.lookup(name)
    assert fact is not None
    return construct(run, name, fact, call)


def spread_out(run: Interpreter, made: Instance, kwargs: dict[str, Arg], spot: Location) -> None:
    """A `device_map`: the library puts the layers of a module where there is room.

    One in few bits goes where its kernels are, and refuses to be moved.
    """
    told = (kwargs[name][0] for name in _PLACED_BY if name in kwargs)
    if made.node is not None and any(
        not (isinstance(value, Const) and not value.value) for value in told
    ):
        made.moves.append(spot)
        run.graph.pin(made.node, Place.UNKNOWN, spot)


def made_on_default(run: Interpreter, made: Instance, spot: Location, scope: Scope) -> None:
    """Put a new module where `set_default_device`, or `with torch.device(...)`, says."""
    if made.node is None:
        return
    if run.default_device and not run.inside:
        run.graph.pin(made.node, Place.CENTRAL, spot)
    elif run.inside:
        device = devices.as_device(run, *run.inside[-1], scope, sure=True)
        root = device.node.find() if device is not None else None
        if root is None or root.pin is Place.HOST:
            return
        made.moves.append(spot)
        if root.pin is Place.FIXED:  # "meta": it is filled later, wherever that may be
            run.graph.pin(made.node, Place.UNKNOWN, spot)
        else:
            run.graph.same(made.node, root)


def module_arguments(
    run: Interpreter, made: Instance, args: list[Arg], kwargs: dict[str, Arg], first: int = 0
) -> None:
    """Register what is handed to a module's constructor: modules, and tensors as buffers.

    `first` is how many parts it has already.
    """
    for index, (value, _) in enumerate((*args, *kwargs.values()), first):
        children = contents.modules_in(value)
        for number, child in enumerate(children):
            assignment.join_in(run, made, child)
            run.trail.put(made.attrs, str(index + number), child)
        if isinstance(value, Dict):
            for key, member in value.items.items():
                run.trail.put(made.attrs, str(key), member)
        if children:
            continue
        if made.name in _CONTAINERS and _holds_unknown(value):
            made.stateful = True  # perhaps: it moves as if it were
        if isinstance(value, Tensor) and made.node is not None and value.node.find().is_tensor:
            made.stateful = True
            made.kwargs[str(index)] = value
            run.graph.batch(value.node, made.node)


def _holds_unknown(value: Value) -> bool:
    """Tell whether what a container of modules is made of is not known, or something of it."""
    if isinstance(value, (Seq, Dict)):
        return any(member is UNKNOWN for member in value.members())
    return value is UNKNOWN


def computes(callee: Instance, args: list[Arg], kwargs: dict[str, Arg]) -> bool:
    """Tell whether a module computes when it is called.

    What is reached in a library's module may be a method, which saves or merges it: not with
    settings only.
    """
    given = [value for value, _ in (*args, *kwargs.values())]
    known = callee.cls is not None or callee.fact is not None
    return known or not all(isinstance(value, (Const, Scalar)) for value in given)


def call_module(
    run: Interpreter,
    callee: Instance,
    args: list[Arg],
    kwargs: dict[str, Arg],
    spot: Location,
    scope: Scope,
    *,
    shows: bool = True,
) -> Value:
    """Call a module of a library: its parameters and its inputs must agree.

    `shows`: it takes nothing but tensors, as the call of a module does.
    """
    callee.used = callee.used or computes(callee, args, kwargs)
    iteration.keep_up(run, callee)
    if torchfacts.is_pipeline(callee.name) and callee.cls is None:
        output = kwargs.get("output_type")
        if output is None or isinstance(output[0], Const) and output[0].value in ("pil", "np"):
            return _images()
    name = callee.fact.out if callee.fact is not None else ""
    operands: list[tuple[Tensor, Location]] = []
    forward = torchfacts.lookup(f"{callee.name}.forward") if callee.fact is not None else None
    if forward is not None and (forward.free or forward.host):
        return operations.operation(
            run, f"{callee.name}.forward", forward, Call(args, kwargs, spot, scope)
        )
    for value, where in (*args, *kwargs.values()):
        operands.extend(contents.tensors_in(value, where))
    if callee.name.endswith(("Sequential",)) and callee.cls is None and callee.attrs:
        result: Value = args[0][0] if args else UNKNOWN
        # A copy that is averaged has itself as `module`.
        for child in [
            v for v in callee.attrs.values() if isinstance(v, (Instance, Union)) and v is not callee
        ]:
            result = calls.apply(run, child, [(result, args[0][1] if args else spot)], {}, spot,
                                scope)  # fmt: skip
        return result
    for tensor, _ in _shown(args, kwargs) if shows else ():
        tensor.node.find().is_tensor = True
    if callee.stateful and callee.node is not None:
        graphs = torchfacts.takes_graphs(callee.name)
        for value, where in (*args, *kwargs.values()):
            libraries.undecided(run, value, where, callee.node, scope, has_device=graphs)
        module = Tensor(callee.node)
        called = Location(spot.path, getattr(spot.node, "func", spot.node))
        operands.insert(0, (module, called))
        operands += [(tensor, called) for tensor in moving.late(callee)]
        operands += [(part, called) for part in _left(callee)]
    if not operands:
        return UNKNOWN
    if not callee.stateful and callee.name.endswith("Loss"):
        for value, where in args:
            libraries.undecided(run, value, where, operands[0][0].node, scope)
    made = run.operate(operands, spot, False)
    made.scalar = name == "loss" or (
        callee.name.endswith("Loss") and not callee.attrs.keys() & libraries.REDUCES
    )
    return made


def _shown(args: list[Arg], kwargs: dict[str, Arg]) -> Iterator[tuple[Tensor, Location]]:
    """Yield the tensors among what a module is given; a keyword may say a number as well."""
    for value, where in args:
        yield from contents.tensors_in(value, where)
    for name, (value, where) in kwargs.items():
        if torchfacts.is_input(name):
            yield from contents.tensors_in(value, where)


def given_by(
    owner: Instance, name: str, args: list[Arg], kwargs: dict[str, Arg], made: Value
) -> Value:
    """Return what `owner.name(...)` gives, a method or a part of a library's module.

    A method may give arrays, texts or lists (`model.encode(texts)`, `crf.decode(x)`), unless it is
    known to compute as the call of the module does.
    """
    while owner.parent is not None and not owner.name and owner.fact is None:
        owner = owner.parent
    library = owner.name.partition(".")[0]
    if not isinstance(made, Tensor) or library == "torch" or "convert_to_tensor" in kwargs:
        return made
    if torchfacts.library(library) and torchfacts.computes(name):
        return made
    return made.doubted(Doubt.OTHER)


def _images() -> Instance:
    """Return what a pipeline of diffusers gives: pictures, films or sounds on the CPU."""
    made = Instance("hostobject", "diffusers.utils.BaseOutput")
    for name in ("images", "frames", "audios"):
        made.attrs[name] = Seq("list", element=ARRAY)
    return made


def _left(module: Instance) -> list[Tensor]:
    """Return a parameter of each part that the program put into a library's module after its move.

    It did not move with the rest.
    """
    assert module.node is not None
    return [
        parameter_of(part)
        for part in (module.held() if module.cls is None and module.has_moved() else ())
        if part.family == "module" and part.stateful
        if part.site is not None and part is not module.wrapped() and not part.has_moved()
        if part.node is not None and part.node.find() is not module.node.find()
    ]


@model("torch.nn.parallel.data_parallel")
def data_parallel(run: Interpreter, call: Call) -> Value:
    """A module called on several GPUs: its inputs are scattered from where they are to there."""
    if len(call.args) < 2 or not isinstance(call.args[0][0], Instance):
        return UNKNOWN
    (module, _), (inputs, spot) = call.args[:2]
    assert isinstance(module, Instance)
    given = inputs.members() if isinstance(inputs, Seq) else [inputs]
    there = [Tensor(module.node) if isinstance(v, Tensor) and module.node else v for v in given]
    return calls.apply(run, module, [(v, spot) for v in there], {}, call.spot, call.scope)


@kind("parameter")
def parameter(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """`nn.Parameter(x)` and `Variable(x)`."""
    source = call.args[0] if call.args else call.kwargs.get("data")
    if source is None or not isinstance(source[0], Tensor):
        made = Tensor(run.graph.node(call.spot))
        made.leaf = made.parameter = name.endswith("Parameter")  # whatever it is made of
        run.leaves.append(made.node)
        return made
    inner = source[0]
    made = Tensor(inner.node, scalar=inner.scalar, site=inner.site)
    made.leaf = made.parameter = name.endswith("Parameter")
    run.leaves.append(made.node)
    wants_grad = call.kwargs.get("requires_grad")
    if wants_grad is not None and conditions.truth(wants_grad[0]) is not False:
        made.leaf = True
        arithmetic.compute_intensive(run, made.node, call.spot, call.scope)
    made.opaque = inner.opaque
    return made
