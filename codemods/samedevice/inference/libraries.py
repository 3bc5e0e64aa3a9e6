"""Calls into libraries: by a model of the function, else by the fact that is kept about it."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, TypeGuard

from samedevice import torchfacts
from samedevice.inference import contents, devices, escapes, models
from samedevice.inference.events import HostRead, LengthsRead, ProcessCall
from samedevice.inference.models import Call, containers, images, operations, options
from samedevice.inference.nodes import Location, PlaceVar
from samedevice.inference.objects import Func, Instance, Scope
from samedevice.inference.open_events import GivenAway, HandedTogether, ReadApart, Undecided
from samedevice.inference.values import (
    ARRAY,
    NONE,
    SCALAR,
    UNKNOWN,
    Arg,
    Doubt,
    Seq,
    Tensor,
    Value,
    surely_tensor,
)
from samedevice.torchfacts import Fact

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

_HOST = Fact("host", out="unknown")
_REDUCTIONS = frozenset(
    (
        "all", "amax", "amin", "any", "argmax", "argmin", "count_nonzero", "max", "mean", "median",
        "min", "nanmean", "nansum", "norm", "prod", "std", "sum", "var",
    )
)  # fmt: skip
#: What keeps the shape of its first argument, and is no elementwise operation.
KEEPING_SHAPE = frozenset(("cummax", "cummin", "cumprod", "cumsum", "flip", "roll"))
#: What a program of several processes calls with a device, or a word for one.
_OF_PROCESSES = frozenset(
    (
        "init_process_group", "init_device_mesh", "barrier", "DistributedDataParallel",
        "convert_sync_batchnorm", "set_device", "spawn",
    )
)  # fmt: skip
#: What returns the module that it was given, or changes it in place.
_NEUTRAL = sys.stdlib_module_names | {"torch", "pytest"}
#: Losses by name; with an argument of `_REDUCES` they may have a number for each sample.
_LOSSES = frozenset(
    ["cross_entropy", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div"]
)
REDUCES = frozenset(["reduction", "reduce"])


def note_process_call(
    run: Interpreter, name: str, args: list[Arg], kwargs: dict[str, Arg], spot: Location,
    scope: Scope,
) -> None:  # fmt: skip
    """Note what a program of several processes calls, or makes, with a device."""
    last = name.rpartition(".")[2]
    if name.startswith("torch.") and last in _OF_PROCESSES:
        found = ProcessCall(spot, None, scope, last, args=args, kwargs=kwargs)
        run.snapshot(run.record(found), scope)


def call_external(
    run: Interpreter,
    name: str,
    args: list[Arg],
    kwargs: dict[str, Arg],
    spot: Location,
    scope: Scope,
) -> Value:
    """Call a function or class of a library by its dotted name."""
    if name == run.project.resolver_function.replace(":", "."):
        return devices.asked_for(run, spot)
    note_process_call(run, name, args, kwargs, spot, scope)
    call = models.Call(args, kwargs, spot, scope)
    handler = models.handler(name)
    if handler is not None:
        return handler(run, call)
    fact = torchfacts.lookup(name)
    if fact is None:
        gives_memory(run, args, kwargs, spot, scope)
        for value, _ in (*args, *kwargs.values()):
            if isinstance(value, Instance) and value.family == "module":
                if name.partition(".")[0] not in _NEUTRAL:
                    run.record(GivenAway(spot, None, scope))
        unread = name.partition(".")[0] not in _NEUTRAL
        if unread:
            handed_together(run, args, kwargs, spot, scope)
        if unread or not name.startswith("torch.") and any(isinstance(v, Func) for v, _ in args):
            escapes.handed(run, args, kwargs, spot, scope)  # a function is called with the others
        return UNKNOWN
    if fact.kind == "host":
        escapes.called_back(run, args, kwargs)
    return models.of_kind(fact.kind)(run, name, fact, call)


def named(fact: Fact, args: list[Arg], kwargs: dict[str, Arg]) -> dict[str, list[Arg]]:
    """Return the arguments by parameter name; a starred parameter has several."""
    found: dict[str, list[Arg]] = {}
    for index, arg in enumerate(args):
        found.setdefault(fact.parameter(index) or f"#{index}", []).append(arg)
    for name, arg in kwargs.items():
        found.setdefault(name, []).append(arg)
    return found


def returned(fact: Fact, node: PlaceVar | None, spot: Location) -> Value:
    """Return what a call gives, by the fact's `out`."""
    match fact.out:
        case "tensor" | "self" | "tensors" | "follows0" if node is not None:
            return Tensor(node)
        case "hostobject" | "logger":
            return Instance(fact.out, fact=fact)
        case "scalar" | "none":
            return SCALAR if fact.out == "scalar" else NONE
        case "ndarray":
            return ARRAY
    return UNKNOWN


#: What gives a tensor that has dimensions, also of those that have none.
_WITH_DIMENSIONS = frozenset(
    ("atleast_1d", "atleast_2d", "cat", "column_stack", "concat", "concatenate", "dstack", "expand")
    + ("hstack", "repeat", "row_stack", "stack", "tile", "unsqueeze", "vstack")
)


def shaped(fact: Fact, result: Tensor, name: str, args: list[Arg], kwargs: dict[str, Arg]) -> Value:
    """Return an operation's result, in the shape that the fact says."""
    last = name.rpartition(".")[2]
    if last in _REDUCTIONS:
        # The first argument of `norm` is its order; `max` and `min` compare two tensors, too.
        given = args[1:] if last == "norm" else args
        whole = not given and not kwargs.keys() & {"dim", "axis", "other"}
        if whole or fact.kind == "view":
            result = Tensor(result.node, scalar=whole)
    elif last.endswith("_loss") or last in _LOSSES:
        result = Tensor(result.node, scalar=not kwargs.keys() & REDUCES)
    elif _has_one_dimension(last, args, kwargs):
        result = result.copy()
        result.row, result.scalar = True, False
    elif result.scalar and last in _WITH_DIMENSIONS:
        result = result.copy()
        result.scalar = False
    return result


def _has_one_dimension(name: str, args: list[Arg], kwargs: dict[str, Arg]) -> bool:
    """Tell whether an operation makes a row, whatever it is given."""
    if name in ("view", "reshape"):
        return len(args) == 1 and not kwargs and ast.unparse(args[0][1].node) in ("-1", "(-1,)")
    if name in ("unique", "unique_consecutive", "flatten", "ravel"):
        return not args and not kwargs.keys() - {"sorted"}
    return name in ("bincount", "histc", "masked_select")


def demand_host(run: Interpreter, value: Value, where: Location, scope: Scope, name: str) -> None:
    """Note tensors that must be on the host here."""
    direct = isinstance(value, Tensor)
    tensors = contents.tensors_in(value, where)
    demand = LengthsRead if name.rpartition(".")[2].startswith("pack_") else HostRead
    if demand is LengthsRead and not direct:
        return  # a list of numbers: a tensor is made of it on the host
    for tensor, spot in tensors:
        if tensor.doubt is Doubt.OTHER:  # a number has no `.cpu()`
            run.record(ReadApart(spot, tensor.node, scope, name))
            continue
        # An expression that is the tensor itself can be moved; a container of tensors cannot.
        whole = spot.node is not where.node or direct
        site = run.record(demand(spot, tensor.node, scope, name, whole=whole))
        if isinstance(value, Seq) and value.added and all(map(surely_tensor, value.members())):
            site.added = value.added


def handed_together(
    run: Interpreter,
    args: list[Arg],
    kwargs: dict[str, Arg],
    spot: Location,
    scope: Scope,
    *,
    runs: bool = False,
) -> None:
    """Note the tensors, and the modules with them, that something gets of which nothing is known.

    It may run a module with a tensor. `runs`: only that is noted, not that tensors meet each other.
    """
    given = [value for value, _ in (*args, *kwargs.values())]
    nodes = [v.node for v in given if isinstance(v, Tensor) and surely_tensor(v)]
    modules = [v.node for v in given if _is_module(v) and v.node is not None]
    if nodes and (modules or not runs and len(nodes) > 1):
        run.record(HandedTogether(spot, nodes[0], scope, nodes=(*nodes, *modules)))


def gives_memory(
    run: Interpreter, args: list[Arg], kwargs: dict[str, Arg], spot: Location, scope: Scope
) -> None:
    """Note a call that gets the address of a tensor: `library.run(x.data_ptr())`."""
    for _, where in (*args, *kwargs.values()):
        match where.node:
            case ast.Call(func=ast.Attribute(attr="data_ptr"), args=[]):
                run.record(GivenAway(spot, None, scope, memory=True))


def _is_module(value: Value) -> TypeGuard[Instance]:
    return isinstance(value, Instance) and value.family == "module" and value.stateful


def undecided(
    run: Interpreter,
    value: Value,
    where: Location,
    node: PlaceVar,
    scope: Scope,
    *,
    has_device: bool = False,
) -> None:
    """Note a value of which nothing is known, and what it meets."""
    if value is UNKNOWN and isinstance(where.node, ast.expr):
        run.record(Undecided(where, node, scope, has_device=has_device))


def call_library_object(
    run: Interpreter,
    callee: Instance,
    args: list[Arg],
    kwargs: dict[str, Arg],
    spot: Location,
    scope: Scope,
) -> Value:
    """Call an instance of a library's class (a transform, a tokenizer)."""
    known = models.methods_of(callee)
    if known is not None:
        return known(run, callee, "__call__", models.Call(args, kwargs, spot, scope))
    if callee.fact is not None and callee.fact.kind in ("transform", "functional_transform"):
        return images.transformed(run, callee.fact, args, spot, scope)
    if callee.family == "hostobject":
        return operations.host_function(run, callee.name, _HOST, Call(args, kwargs, spot, scope))
    return UNKNOWN


def library_attribute(run: Interpreter, owner: Instance, attr: str, spot: Location) -> Value | None:
    """Return an attribute of a library's object that is no method, if a model knows it."""
    known = models.attributes_of(owner)
    return known(run, owner, attr, spot) if known is not None else None


def library_method(
    run: Interpreter,
    owner: Instance,
    name: str,
    args: list[Arg],
    kwargs: dict[str, Arg],
    spot: Location,
    scope: Scope,
) -> Value:
    """Call a method of a library's object."""
    known = models.methods_of(owner)
    if known is not None:
        return known(run, owner, name, models.Call(args, kwargs, spot, scope))
    match owner.family:
        case "hostobject":
            if not owner.name.startswith("PIL."):  # whose pictures take pictures, and no tensors
                operations.host_function(
                    run, f"{owner.name}.{name}", _HOST, Call(args, kwargs, spot, scope)
                )
            return Instance("hostobject", owner.name) if not args else UNKNOWN
        case "logger":
            return owner  # a run, a group of it
        case "container":
            return containers.container_method(run, owner, name, args, kwargs, spot, scope)
        case "generator":
            return owner if name == "manual_seed" else SCALAR
        case "parser":
            return options.parser_method(owner, name, models.Call(args, kwargs, spot, scope))
        case "context":
            if name == "save_for_backward":
                owner.attrs["saved_tensors"] = Seq("tuple", [v for v, _ in args])
            return NONE
    return UNKNOWN
