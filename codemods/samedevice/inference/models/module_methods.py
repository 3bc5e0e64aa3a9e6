"""Methods that every module has: `to`, `parameters`, `state_dict`, hooks, ..."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from samedevice import torchfacts
from samedevice.inference import (
    assignment,
    attributes,
    calls,
    classes,
    conditions,
    contents,
    devices,
    iteration,
    moving,
)
from samedevice.inference.dispatch import under
from samedevice.inference.events import Loaded, ModuleMoved
from samedevice.inference.models import Call, nn
from samedevice.inference.nodes import Cause, Location, Place
from samedevice.inference.objects import Func, Instance, Scope
from samedevice.inference.open_events import MovedAlone
from samedevice.inference.values import (
    NONE,
    SCALAR,
    UNKNOWN,
    Arg,
    Const,
    Device,
    Dict,
    Iter,
    Seq,
    Tensor,
    Value,
    parameter_of,
)
from samedevice.reading import syntax
from samedevice.torchfacts import OFFLOADING

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


#: What a method that every module has gives; None where it is called with something unusual.
ModuleMethod = Callable[["Interpreter", Instance, str, Call], "Value | None"]

_METHODS: dict[str, ModuleMethod] = {}

#: The attribute in which torch itself keeps what runs before a call.
_PRE_HOOKS = "_forward_pre_hooks"


def module_method(
    run: Interpreter,
    owner: Instance,
    name: str,
    args: list[Arg],
    kwargs: dict[str, Arg],
    spot: Location,
    scope: Scope,
) -> Value:
    """Call a method that every module has."""
    if owner.node is None:
        return UNKNOWN
    method = _METHODS.get(name)
    if method is not None:
        found = method(run, owner, name, Call(args, kwargs, spot, scope))
        if found is not None:
            return found
    if owner.cls is None or owner.fact is not None and owner.fact.state:
        # Another method of a library's model (`generate`, `encode`): it computes like a call,
        # and so does a part of one that a class of the project is made of.
        shows = torchfacts.computes(name)
        made = nn.call_module(run, owner, args, kwargs, spot, scope, shows=shows)
        return nn.given_by(owner, name, args, kwargs, made)
    return UNKNOWN


@under(_METHODS, "to", "cuda", "xpu", "cpu", "npu", "mps", "to_empty", "type")
def _moved(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    move_module(run, owner, name, call.args, call.kwargs, call.spot, call.scope)
    return owner


@under(_METHODS, *OFFLOADING)
def _offloaded(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    """A pipeline of diffusers whose parts come to the accelerator one by one, as they compute."""
    owner.moves.append(call.spot)
    node = run.graph.node(call.spot)
    run.graph.pin(node, Place.CENTRAL, call.spot)
    moving.rebase(run, owner, node)
    return NONE


@under(_METHODS, "eval", "train", "half", "float", "double", "bfloat16")
@under(_METHODS, "requires_grad_")
def _itself(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    return owner


@under(_METHODS, "share_memory")
def _shared(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    """Other processes compute with the module from now on."""
    run.forks.append(call.spot)
    return owner


@under(_METHODS, "apply")
def _applied(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    if call.args and isinstance(call.args[0][0], Func):
        part = iteration.any_module(owner, call.spot)
        calls.apply(run, call.args[0][0], [(part, call.spot)], {}, call.spot, call.scope)
    return owner


@under(_METHODS, "zero_grad", "__init__")
def _nothing(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    return NONE


@under(_METHODS, "register_forward_hook", "register_forward_pre_hook")
@under(_METHODS, "register_backward_hook", "register_full_backward_hook")
def _hook(run: Interpreter, owner: Instance, name: str, call: Call) -> Value | None:
    if not call.args:
        return None
    # The hook sees what goes in and comes out, which is where the module is then.
    seen = Tensor(run.graph.node())
    if not owner.awaited:
        run.awaiting.append(owner)
    owner.awaited.append(seen.node)
    several = Seq("tuple", None, seen)
    given: list[Value] = [owner, several]
    if name != "register_forward_pre_hook":
        given.append(seen if name == "register_forward_hook" else several)
    if "with_kwargs" in call.kwargs and conditions.truth(call.kwargs["with_kwargs"][0]):
        given.insert(2, Dict())
    args = [(value, call.spot) for value in given]
    calls.apply(run, call.args[0][0], args, {}, call.spot, call.scope)
    if name == "register_forward_pre_hook" and len(given) == 2:
        known = owner.attrs.get(_PRE_HOOKS)
        hooks = [*(known.members() if isinstance(known, Seq) else ()), call.args[0][0]]
        run.trail.put(owner.attrs, _PRE_HOOKS, Seq("list", hooks))
    return UNKNOWN


def hooked(
    run: Interpreter, module: Instance, args: list[Arg], spot: Location, scope: Scope
) -> list[Arg]:
    """Return the arguments of a module's call as its hooks hand them on."""
    hooks = module.attrs.get(_PRE_HOOKS)
    for hook in hooks.members() if isinstance(hooks, Seq) else ():
        inputs = Seq("tuple", [value for value, _ in args])
        given: list[Arg] = [(module, spot), (inputs, spot)]
        made = calls.apply(run, hook, given, {}, spot, scope)
        if isinstance(made, Seq) and made.items is not None and len(made.items) == len(args):
            args = [(value, where) for value, (_, where) in zip(made.items, args, strict=True)]
        elif isinstance(made, Seq):
            member = iteration.any_of(run, made.members())
            args = [(member, where) for _, where in args]
        elif isinstance(made, Tensor) and len(args) == 1:
            args = [(made, args[0][1])]
        elif made is not NONE and not (isinstance(made, Const) and made.value is None):
            args = [(UNKNOWN, where) for _, where in args]
    return args


@under(_METHODS, "parameters", "buffers")
def _parameters(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    return Iter(parameter_of(owner), owner)


@under(_METHODS, "named_parameters", "named_buffers")
def _named_parameters(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    return Iter(Seq("tuple", [SCALAR, parameter_of(owner)]), owner)


@under(_METHODS, "modules", "children")
def _modules(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    return Iter(iteration.any_module(owner, call.spot), owner)


@under(_METHODS, "named_modules", "named_children")
def _named_modules(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    return Iter(Seq("tuple", [SCALAR, iteration.any_module(owner, call.spot)]), owner)


@under(_METHODS, "get_submodule")
def _submodule(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    """Return the part under a dotted name; of one that is not known, any part."""
    given = call.args[0][0] if call.args else UNKNOWN
    found: Value = owner
    for attr in str(given.value).split(".") if isinstance(given, Const) and given.value else ():
        found = attributes.attribute(run, found, attr, call.spot, call.scope)
    return found if isinstance(given, Const) else iteration.any_module(owner, call.spot)


@under(_METHODS, "get_parameter", "get_buffer")
def _parameter(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    assert owner.node is not None
    return Tensor(owner.node)


@under(_METHODS, "state_dict")
def _state(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    assert owner.node is not None
    entry = Tensor(owner.node)
    entry.owner = owner
    return Dict(element=entry)


@under(_METHODS, "load_state_dict")
def _load_state(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    put_into_module(call.args, owner)
    return NONE


@under(_METHODS, "register_buffer", "register_parameter")
def _register_tensor(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    assert owner.node is not None
    values = [v for v, _ in call.args] + [v for v, _ in call.kwargs.values()]
    if len(values) > 1 and isinstance(values[0], Const):
        owner.stateful = True
        attr = str(values[0].value)
        owner.buffers.add(attr)
        if isinstance(values[1], Tensor) and moving.comes_late(run, owner, values[1]):
            late = moving.join_late(run, owner, attr, values[1], call.spot)
            run.trail.put(owner.attrs, attr, late)
        elif isinstance(values[1], Tensor):
            run.graph.batch(values[1].node, owner.node)
            held = parameter_of(owner) if name == "register_parameter" else Tensor(owner.node)
            run.trail.put(owner.attrs, attr, held)
    return NONE


@under(_METHODS, "add_module", "register_module")
def _register_module(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    if len(call.args) != 2:
        return NONE
    (part, where), (module, _) = call.args
    for child in contents.modules_in(module):
        assignment.join_in(run, owner, child)
    if isinstance(module, Instance):
        computed = str(part.value) if isinstance(part, Const) else classes.pattern(where.node)
        if computed.strip("*"):
            run.trail.put(owner.attrs, computed, module)
    return NONE


@under(_METHODS, "append", "extend", "insert", "update")
def _add(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    nn.module_arguments(run, owner, call.args, call.kwargs, len(owner.attrs))
    itself = name in ("append", "extend") or name == "insert" and owner.name.endswith("Sequential")
    return owner if itself else NONE


@under(_METHODS, "keys")
def _keys(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    return Iter(SCALAR)


@under(_METHODS, "values", "items")
def _parts(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    parts: list[Value] = []
    parts += dict.fromkeys(owner.held())
    if name == "items":
        parts = [Seq("tuple", [SCALAR, part]) for part in parts]
    if parts and owner.cls is None:
        return Seq("list", parts)
    part = iteration.member_of(owner, call.spot)
    return Iter(Seq("tuple", [SCALAR, part]) if name == "items" else part, owner)


def put_into_module(args: list[Arg], owner: Instance | None = None) -> None:
    """Note that a module or an optimizer copies what was loaded, wherever that is.

    It may come in a mapping that the program has made of it, under other names, say.
    """
    for given, _ in contents.tensors_in(*args[0]) if args else ():
        if given.site is not None:
            given.site.into_module = True
            if isinstance(given.site, Loaded):
                given.site.copied = True
                given.site.receivers += [owner] if owner is not None else []


def add_to_state(state: Dict, args: list[Arg]) -> None:
    """Note that what is put into a module's `state_dict()` is for that module."""
    entry = state.element
    if isinstance(entry, Tensor) and entry.owner is not None:
        put_into_module(args, entry.owner)


def move_module(
    run: Interpreter,
    owner: Instance,
    name: str,
    args: list[Arg],
    kwargs: dict[str, Arg],
    spot: Location,
    scope: Scope,
) -> None:
    """`module.to(device)`: all that it holds is there from now on."""
    device = devices.moved_to(run, name, args, kwargs, spot, scope)
    if device is None and name == "to" and args and args[0][0] is UNKNOWN:
        owner.moves.append(spot)  # perhaps to a device: nothing is known, so nothing is reported
    if device is None or owner.node is None:
        return
    named = devices.legacy_type(args)
    run.record(ModuleMoved(spot, owner.node, scope, name, device=device, type=named, module=owner))
    if device.node.find().pin is Place.HOST:
        _move_to_cpu(run, owner, args, spot, scope)
        return
    if owner.stateful and _is_one_of_several(run, spot.node, scope):
        run.record(MovedAlone(spot, device.node, scope))
    late = [part for part in owner.tree()[1:] if part.node is not None and not part.has_moved()]
    _move_to_device(run, owner, device, spot)
    for part in late:  # it was put into a module that had moved: this takes it along
        if part.node is not None and not (part.has_moved() or part.used):
            part.moves.append(spot)
            run.graph.same(part.node, device.node)


def _is_one_of_several(run: Interpreter, call: ast.AST, scope: Scope) -> bool:
    """Tell whether what is moved is the first of a list, say, in which one stands for all."""
    match call:
        case ast.Call(
            func=ast.Attribute(
                value=ast.Subscript(
                    value=ast.Name() | ast.Attribute() as several, slice=ast.Constant(value=int())
                )
            )
        ):
            held = run.eval(several, scope)
            return isinstance(held, Seq) and held.items is None
    return False


def _move_to_cpu(
    run: Interpreter, owner: Instance, args: list[Arg], spot: Location, scope: Scope
) -> None:
    """Put a module on the CPU, wherever in a statement it is said."""
    assert owner.node is not None
    if owner.copied_from is not None:
        node = run.graph.node(spot)
        run.graph.pin(node, Place.HOST, spot, cause=Cause.TO_CPU)
        moving.rebase(run, owner, node)
    elif not (owner.moves or owner.used):
        run.graph.pin(owner.node, Place.HOST, spot, cause=Cause.TO_CPU)
    elif args and _handed_in(args[0][1], scope):
        run.wandering.append(spot)
    elif not run.symbolic:
        # From here on it is on the CPU, to the end of this path; where it computed before stays
        # as it was.
        node = run.graph.node(spot)
        run.graph.pin(node, Place.HOST, spot, cause=Cause.TO_CPU)
        moving.rebase(run, owner, node)


def _move_to_device(run: Interpreter, owner: Instance, device: Device, spot: Location) -> None:
    """Put a module on a device; what stands for all parts of one moves that one."""
    if iteration.is_any_module(owner) and owner.parent is not None:
        owner.moves.append(spot)
        owner = owner.parent
    assert owner.node is not None
    first = not owner.moves
    owner.moves.append(spot)
    root = owner.node.find()
    if device.node.find() is root:
        # It is there already: the device is that of one of its parameters.
        moving.gather(run, owner)
        return
    whole = owner.wrapped() or owner
    if whole.is_whole() and _surely(run, whole):
        # Where it computed before stays as it was, and so do copies of it. A copy of what had moved
        # was there, and not on the CPU.
        if not root.joins and (first or owner.copied_from is None):
            run.graph.pin(root, Place.HOST, spot, cause=Cause.UNMOVED)
        moving.rebase(run, whole, device.node)
        for copied in whole.copies:
            if copied.site is not None and not copied.moves:
                copied.site.node = run.graph.node(copied.site.spot)
                moving.rebase(run, copied, copied.site.node)
        return
    if root.pin is Place.HOST and root.cause is Cause.TO_CPU or first and owner.used:
        moving.rebase(run, owner, device.node)
        return
    if _is_by_itself(run, owner):
        moving.rebase(run, owner, device.node)  # the rest stays as it was
        return
    if whole.is_whole() and _in_an_arm(run, whole):
        if whole is not owner:
            whole.moves.append(spot)
        moving.rebase(run, whole, device.node)  # on the other path it is as it was
        return
    run.graph.same(owner.node, device.node)
    moving.gather(run, owner)
    for child in owner.held():
        if child.node is not None and child.parent is owner:
            root = child.node.find()
            if root.pin is Place.HOST and root.cause is Cause.TO_CPU:
                child.node = owner.node  # it moves along, wherever it was built


def _is_by_itself(run: Interpreter, part: Instance) -> bool:
    """Tell whether what moves is one part of a module that has not moved.

    Outside of constructors it is a part that the program has built: what stands for any part, or
    for one of a library's model, may well stand for all of them.
    """
    if part.parent is None or part.parent.has_moved() or part.wrapped() is not None:
        return False
    if run.in_constructor:
        return True
    return not run.symbolic and part.site is not None and not iteration.is_any_module(part)


def _surely(run: Interpreter, module: Instance) -> bool:
    """Tell whether a statement that moves a module runs whenever its program has built that.

    One that is built where it is moved is unknown to the paths beside.
    """
    if run.symbolic or run.path is None:
        return not run.symbolic
    sites = [iteration.known_whole(one).site for one in module.tree()]
    return all(site is not None and run.path.holds(site.path) for site in sites)


def _in_an_arm(run: Interpreter, module: Instance) -> bool:
    """Tell whether a module is moved on one path only of those that go on with it."""
    built = module.site
    return run.path is not None and built is not None and run.path.is_beside(built.path)


def _handed_in(spot: Location, scope: Scope) -> bool:
    """Tell whether a device is a parameter: `def move(device, *modules)` moves for others."""
    level: Scope | None = scope
    while level is not None and level.func is None:
        level = level.outer
    return (
        level is not None
        and level.func is not None
        and isinstance(spot.node, ast.Name)
        and spot.node.id in syntax.parameters(level.func.node)
    )
