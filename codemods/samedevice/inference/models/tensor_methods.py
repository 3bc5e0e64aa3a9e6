"""Methods of tensors: moves, and what facts say of the others."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samedevice import torchfacts
from samedevice.inference import (
    arithmetic,
    assignment,
    calls,
    classes,
    conditions,
    contents,
    devices,
    libraries,
    subscripts,
    unexplained,
)
from samedevice.inference.events import (
    Cloned,
    CudaOnly,
    DeviceOf,
    Dropped,
    GivenDevice,
    HostRead,
    Loaded,
    OldName,
    TensorMoved,
)
from samedevice.inference.models import (
    Call,
    datasets,
    factories,
    images,
    kind,
    module_methods,
    operations,
    optimizers,
)
from samedevice.inference.nodes import Location, Place
from samedevice.inference.objects import External, Scope
from samedevice.inference.values import (
    ARRAY,
    DEVICE,
    NONE,
    SCALAR,
    UNKNOWN,
    Arg,
    Const,
    Device,
    Iter,
    Seq,
    Shown,
    Tensor,
    Value,
)
from samedevice.reading import syntax
from samedevice.torchfacts import Fact

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: Methods by which modules give what they are made of, one by one.
PARTS = frozenset(
    ["parameters", "buffers", "modules", "children", "named_parameters", "named_buffers",
     "named_modules", "named_children"]
)  # fmt: skip
#: Methods that no tensor has: what has them is a module, or a mapping.
OF_OTHERS = PARTS | {"get", "items", "keys", "pop", "setdefault", "values"}
#: Methods that may add dimensions to the tensor itself.
_SHAPING = ("unsqueeze_", "resize_", "as_strided_", "set_")
#: Methods that arrays have, too.
_OF_ARRAYS = frozenset(
    ("all", "any", "argmax", "argmin", "argsort", "clip", "conj", "cumprod", "cumsum", "diagonal",
     "dot", "flatten", "max", "mean", "min", "nonzero", "prod", "ravel", "repeat", "reshape",
     "resize", "round", "sort", "squeeze", "std", "sum", "swapaxes", "take", "trace", "transpose",
     "var", "view")
)  # fmt: skip
#: Methods that neither arrays nor pictures have: what has them is a tensor, or a module.
_OF_TENSORS = frozenset(
    ("backward", "clamp", "contiguous", "cuda", "detach", "dim", "expand_as", "float", "gather",
     "index_select", "long", "masked_fill", "masked_fill_", "new_zeros", "numel", "numpy",
     "permute", "requires_grad_", "size", "unsqueeze", "view")
)  # fmt: skip
#: Methods that give another array, and that no tensor has.
COPYING = frozenset(("astype", "copy"))
#: Methods of a tensor that take a function, to be called with its gradient or with itself.
_TENSOR_HOOKS = frozenset(("register_hook", "register_post_accumulate_grad_hook"))


@kind("move")
def move(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """`torch.Tensor.to(x, device)`: the method, called with its receiver."""
    if call.args and isinstance(call.args[0][0], Tensor):
        last = name.rpartition(".")[2]
        return move_tensor(
            run,
            call.args[0][0],
            last,
            call.args[1:],
            call.kwargs,
            call.args[0][1],
            call.spot,
            call.scope,
        )
    return UNKNOWN


def tensor_method(
    run: Interpreter, owner: Tensor, name: str, args: list[Arg], kwargs: dict[str, Arg],
    callee: Location, spot: Location, scope: Scope,
) -> Value:  # fmt: skip
    """Call a method of a tensor; what an array has as well gives an array, if it may be one."""
    result = _result(run, owner, name, args, kwargs, callee, spot, scope)
    if name in _OF_ARRAYS and isinstance(result, Tensor):
        return result.made_of(owner)
    return result


def _result(
    run: Interpreter, owner: Tensor, name: str, args: list[Arg], kwargs: dict[str, Arg],
    callee: Location, spot: Location, scope: Scope,
) -> Value:  # fmt: skip
    receiver = Location(spot.path, getattr(callee.node, "value", callee.node))
    fact = torchfacts.tensor_method(name)
    if fact is None:
        return call_parameter_method(run, owner, name, args, kwargs, receiver, spot, scope)
    if name in _OF_TENSORS and not classes.defines(run, name, len(args)):
        owner.node.find().is_tensor = True
    if name in _TENSOR_HOOKS and args:
        # It sees the gradient, or the tensor itself: where the tensor is.
        calls.apply(run, args[0][0], [(Tensor(owner.node), spot)], {}, spot, scope)
        return UNKNOWN
    call = Call(args, kwargs, spot, scope)
    match fact.kind:
        case "move":
            return move_tensor(run, owner, name, args, kwargs, receiver, spot, scope)
        case "to_numpy":
            return _read_as_array(run, owner, receiver, call)
        case "like":
            return _made_like(run, owner, name, call)
        case "query":
            return _asked(run, owner, name, fact, receiver, call)
        case "cudaonly":
            run.record(CudaOnly(spot, None, scope, name))
            return owner
    return _computed(run, owner, name, fact, receiver, call)


def _read_as_array(run: Interpreter, owner: Tensor, receiver: Location, call: Call) -> Value:
    """`x.numpy()`: it is read on the host, unless it copies there itself."""
    forced = call.kwargs.get("force")
    if forced is not None and conditions.truth(forced[0]) is not False:
        return ARRAY
    owner.node.find().read_there = True
    run.record(HostRead(receiver, owner.node, call.scope, "numpy", whole=True, method=True))
    return ARRAY


def _made_like(run: Interpreter, owner: Tensor, name: str, call: Call) -> Value:
    """`x.new_zeros(...)`, `x.type_as(y)`: a tensor that is made where another is."""
    if name == "type_as" and call.args and isinstance(call.args[0][0], Tensor):
        return Tensor(call.args[0][0].node)
    if "device" in call.kwargs:
        device = devices.as_device(run, *call.kwargs["device"], call.scope, sure=True)
        if device is not None:
            return Tensor(device.node)
    return Tensor(owner.node)


def _asked(
    run: Interpreter, owner: Tensor, name: str, fact: Fact, receiver: Location, call: Call
) -> Value:
    """`x.get_device()`, `x.backward()` and what else gives no tensor."""
    args, kwargs, spot, scope = call.args, call.kwargs, call.spot, call.scope
    if name == "get_device":
        device = Device(owner.node, spot, resolved=True, of_value=True, number=True)
        run.record(DeviceOf(spot, owner.node, scope, name, of=receiver.node, device=device))
        return device
    if name == "backward":
        arithmetic.compute_intensive(run, owner.node, spot, scope)
        run.differentiated.append(owner.node)
        if "retain_variables" in kwargs:
            run.record(OldName(spot, None, scope, "retain_variables"))
        gradient = args[0] if args else kwargs.get("gradient")
        if gradient is not None and isinstance(gradient[0], Tensor):
            run.operate([(owner, receiver), (gradient[0], gradient[1])], spot, False)
    return NONE if fact.out == "none" else SCALAR


def _computed(
    run: Interpreter, owner: Tensor, name: str, fact: Fact, receiver: Location, call: Call
) -> Value:
    """What is computed from a tensor, and perhaps others that it meets."""
    args, kwargs, spot, scope = call.args, call.kwargs, call.spot, call.scope
    operands = [(owner, receiver)]
    for parameter, given in libraries.named(fact, args, kwargs).items():
        for value, where in given:
            found = contents.tensors_in(value, where)
            if fact.must_agree(parameter) and not (parameter == "value" and "fill" in name):
                operands.extend(found)
                unexplained.met(run, value, where, owner, scope)
            elif fact.must_be_on_host(parameter):
                libraries.demand_host(run, value, where, scope, name)
    elementwise = fact.scalars
    result = run.operate(operands, spot, elementwise, in_place=name.endswith("_"))
    factories.drawn(run, result.node, name, call)
    if name in operations.HEAVY:
        arithmetic.multiplied(run, [tensor for tensor, _ in operands], result.node, spot, scope)
    if name == "requires_grad_":
        optimizers.trained(run, owner)
        arithmetic.compute_intensive(run, owner.node, spot, scope)
        return owner
    if fact.out in ("scalar", "none"):
        return SCALAR
    if fact.out == "self":
        owner.row = owner.row and not name.startswith(_SHAPING)
        return owner
    if name == "clone" and owner.owner is not None and not owner.owner.has_moved():
        # Where a copy of a parameter is depends on whether the module moves before or after.
        node = run.graph.node(spot)
        copied = run.record(Cloned(spot, node, scope, name, module=owner.owner))
        run.snapshot(copied, scope)
        assert copied.node is not None
        return Tensor(copied.node, site=copied)
    if len(operands) == 1:
        result = Tensor(owner.node, scalar=owner.scalar)
        result.owner = owner.owner
        result.row = owner.row and (elementwise or name in libraries.KEEPING_SHAPE)
        if owner.opaque:
            result.opaque, result.site = True, owner.site
    return libraries.shaped(fact, result, name, args, kwargs)


def call_parameter_method(
    run: Interpreter, owner: Tensor, name: str, args: list[Arg], kwargs: dict[str, Arg],
    receiver: Location, spot: Location, scope: Scope,
) -> Value:  # fmt: skip
    """Call an unknown method of something that may be no tensor at all."""
    mapping = name in ("items", "keys")
    owner.shown = Shown.MAPPING if mapping else max(owner.shown, Shown.OBJECT)
    if name in ("items",):
        return Iter(Seq("tuple", [SCALAR, subscripts.part(run, owner, None)]))
    if name == "values":
        return Iter(subscripts.part(run, owner, None))
    if name in ("get", "pop", "setdefault"):
        key = args[0][0] if args else UNKNOWN
        entry = subscripts.part(run, owner, key.value if isinstance(key, Const) else None)
        return run.join(args[1][0], entry) if len(args) > 1 else entry
    if name == "keys":
        return Iter(SCALAR)
    if name == "load_state_dict":
        module_methods.put_into_module(args)
        return NONE
    if name in COPYING:
        return ARRAY if name == "astype" else UNKNOWN  # what has it is an array, or a container
    made = run.derived(owner, spot) if not owner.opaque else subscripts.part(run, owner, name)
    if name in PARTS:
        return Iter(Seq("tuple", [SCALAR, made]) if name.startswith("named_") else made)
    return made


def _is_dtype(spot: Location, scope: Scope) -> bool:
    """Tell whether an expression is the `dtype` of a tensor, which says nothing of a device."""
    match spot.node:
        case ast.Attribute(value=ast.Name(id=name), attr="dtype"):
            held = scope.names.get(name)
            return isinstance(held, Tensor) and held.node.find().is_tensor
    return False


def move_tensor(
    run: Interpreter, owner: Tensor, name: str, args: list[Arg], kwargs: dict[str, Arg],
    receiver: Location, spot: Location, scope: Scope,
) -> Value:  # fmt: skip
    """`tensor.to(...)`: a new tensor where the argument says."""
    if name == "type" and not (args or kwargs):
        return SCALAR  # the name of its type, which is no tensor
    if (
        name == "type"
        and args
        and isinstance(args[0][0], External)
        and (args[0][0].name.rpartition(".")[0] == "torch" and args[0][0].name.endswith("Tensor"))
    ):
        return images.host_tensor(run, spot, scope, args[0][0].name)  # a type of the CPU's tensors
    like = _typed_like(run, args, scope) if name == "type" else None
    if like is not None:
        return Tensor(like.node, scalar=owner.scalar)
    device = devices.moved_to(run, name, args, kwargs, spot, scope)
    if device is None:
        if name == "to" and args and args[0][0] is UNKNOWN and not devices.says_dtype(args[0][1]):
            return Tensor(run.graph.node(spot), scalar=owner.scalar)  # it may be a device
        if name == "type" and args and args[0][0] is SCALAR and not _is_dtype(args[0][1], scope):
            return Tensor(run.graph.node(spot), scalar=owner.scalar)  # and so may a type's name
        moved = Tensor(owner.node, scalar=owner.scalar, site=owner.site)
        moved.opaque, moved.leaf, moved.row = owner.opaque, owner.leaf, owner.row
        return moved
    site = run.record(TensorMoved(spot, owner.node, scope, name, device=device, tensor=owner))
    site.type, site.workers = devices.legacy_type(args), run.workers
    if owner.site is not None:
        owner.site.moved = True
    node, pin = device.node, device.node.find().pin
    if device.of_value and (pin is None or pin is Place.HOST):
        node = run.graph.node(spot)  # where that is now: what moves later leaves this behind
        run.graph.flow(device.node, node)
        node.kept = False
    result = Tensor(node, scalar=owner.scalar)
    result.parameter = owner.parameter
    if device.node.find().pin is not Place.HOST:
        owner.node.find().read_there = True
    given = kwargs.get("device") or (args[0] if args else None)
    left_out = given is not None and isinstance(given[0], Const) and given[0] in run.left_out
    if left_out or device.node.find().pin is Place.HOST:
        # What is kept on the host is kept here, not everywhere the same device is named.
        result = Tensor(run.graph.node(spot), scalar=owner.scalar)
        run.graph.flow(device.node, result.node)
        if left_out and given is not None:
            kept = run.record(GivenDevice(spot, result.node, scope, name, device=given))
            run.snapshot(kept, scope)
    if owner.opaque:
        result = Tensor(run.graph.node(spot))
        run.graph.batch(device.node, result.node)
        result.node.is_tensor = owner.node.find().is_tensor
        result.site, result.opaque = site, True
        if perhaps_module(owner) and run.parent_statement(spot) is not None:
            if isinstance(receiver.node, ast.Name):
                assignment.bind(run, receiver.node.id, result, scope)
    result.row = owner.row
    return result


def _typed_like(run: Interpreter, args: list[Arg], scope: Scope) -> Tensor | None:
    """Return `y` of `x.type(y.type())`, which says where `x` goes as well."""
    match args[0][1].node if args else None:
        case ast.Call(func=ast.Attribute(value=other, attr="type"), args=[], keywords=[]):
            inner = other
            while isinstance(inner, ast.Attribute):
                inner = inner.value
            value = run.eval(other, scope) if isinstance(inner, ast.Name) else None
            return value if isinstance(value, Tensor) and not value.opaque else None
    return None


def perhaps_module(value: Tensor) -> bool:
    """Tell whether a value is whatever a file or some other code gave: a module, perhaps."""
    return value.opaque and (value.site is None or isinstance(value.site, (Loaded, TensorMoved)))


def moved_unknown(
    run: Interpreter, func: ast.Attribute, args: list[Arg], kwargs: dict[str, Arg], spot: Location,
    scope: Scope,
) -> Value:  # fmt: skip
    """`x.cuda()` of something unknown: a tensor, or a module that is there from now on."""
    given = kwargs.get("device") or (args[0] if args else None)
    if func.attr == "load_state_dict":  # whatever has such a method copies
        module_methods.put_into_module(args)
    if func.attr == "to":
        match given:
            case (Device(), _):
                pass
            case (Const(value=str() as text), _) if DEVICE.fullmatch(text):
                pass  # no dtype has such a name
            case _:
                return UNKNOWN
    elif func.attr != "cuda" or syntax.dotted(func).startswith("torch."):
        return UNKNOWN
    elif isinstance(func.value, ast.Call) and syntax.dotted(func.value.func).startswith("torch."):
        return UNKNOWN  # a storage, say
    owner = datasets.packed_unknown(run, Location(spot.path, func.value))
    receiver = Location(spot.path, func.value)
    return move_tensor(run, owner, func.attr, args, kwargs, receiver, spot, scope)


def dropped(run: Interpreter, statement: ast.Expr, value: Value, scope: Scope) -> None:
    """Note a statement that moves a tensor and drops the result."""
    if isinstance(value, Tensor):
        _drop(run, statement, statement.value, scope)


def dropped_in_loop(run: Interpreter, loop: ast.For | ast.AsyncFor, scope: Scope) -> None:
    """Note the members of containers that a loop moves and gives to its own name alone."""
    for statement in lost_moves(loop):
        _drop(run, statement, statement.value, scope)


@syntax.per_node
def lost_moves(loop: ast.For | ast.AsyncFor) -> list[ast.Assign]:
    """Return what a loop moves for nobody: `for name, x in batch.items(): x = x.to(device)`.

    The container keeps what it had, and nothing else reads the name.
    """
    match loop:
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(), ast.Name(id=name)]),
            iter=ast.Call(func=ast.Attribute(attr="items"), args=[])
            | ast.Call(func=ast.Name(id="enumerate"), args=[_]),
        ):
            names = [each for each in syntax.walk(loop) if isinstance(each, ast.Name)]
            reads = [n for n in names if n.id == name and isinstance(n.ctx, ast.Load)]
        case _:
            return []
    found = []
    for statement in syntax.in_order(loop.body):
        match statement:
            case ast.Assign(
                targets=[ast.Name(id=bound)],
                value=ast.Call(func=ast.Attribute(value=ast.Name() as moved, attr="to" | "cuda")),
            ) if bound == name and all(
                read is moved or read.lineno < statement.lineno for read in reads
            ):
                found.append(statement)
    return found


def _drop(run: Interpreter, statement: ast.stmt, call: ast.expr, scope: Scope) -> None:
    """Note what a statement moves; of a loop over several members, each."""
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return
    if call.func.attr not in ("to", "cuda", "cpu"):
        return
    each = isinstance(statement, ast.Assign)
    for site in run.sites[::-1]:
        if site.spot.node is call and isinstance(site, TensorMoved):
            moved = site.tensor
            if moved is None or each and moved.site is None:
                continue
            if moved.site is not None and moved.site.spot.node is call.func.value:
                return  # it is made to be moved: that is tried, or wakes the device
            if moved.node.find().is_tensor and not perhaps_module(moved):
                if moved.site is not None and not moved.leaf:
                    moved.site.dropped = True
                spot = Location(scope.path, statement)
                run.record(Dropped(spot, moved.node, scope, move=site, leaf=moved.leaf))
            if not each:
                return
