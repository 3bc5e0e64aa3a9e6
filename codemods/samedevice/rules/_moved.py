"""Moves by name, `x.cuda()`, and where each goes."""

from __future__ import annotations

import ast

from samedevice import torchfacts
from samedevice.finding import DeviceExpression, Finding, Fix
from samedevice.inference import Solution
from samedevice.inference.events import ModuleMoved, TensorMoved
from samedevice.inference.nodes import Location
from samedevice.inference.sites import SiteGroup
from samedevice.inference.values import Device
from samedevice.reading import syntax
from samedevice.repair import device_names, handing, spoken
from samedevice.rules._build import (
    NO_NAME,
    edit,
    finding,
    fix,
    goes_to,
    short,
    tests_devices,
    to_device,
    written_in_place,
)

RULE = "hard-coded-device"
_RANKED = "each process has a device of its own here, and no variable holds it"
#: How often a method may bring a constant to its input.
_FEW = 2


def moved(solution: Solution, group: SiteGroup) -> Finding:
    """Report `x.cuda()`: it goes to the device by its name, or to where it is needed."""
    name = goes_to(solution, group)
    repair: Fix | None = None
    unfixed = _RANKED if solution.programs.is_distributed(group.spot.path) else NO_NAME
    statement = solution.statement_of(group.spot)
    if statement is not None and _moved_on(solution, group.spot):
        repair = Fix((edit(solution, Location(group.spot.path, statement), "delete"),))
    elif _is_there(solution, group) or _is_typed(solution, group.spot):
        repair = Fix((edit(solution, group.spot, "unwrap"),))
    elif name is not None and _is_refused(solution, group, name):
        unfixed = f"`DataParallel` refuses the CPU beside a GPU, and `{name.code}` may be the CPU"
    elif name is not None and (number := _of_callers(solution, group.spot, name)):
        unfixed = f"`{number}` says which GPU it is, and `{name.code}` may be another one"
    elif name is not None and name.code in spoken.made_on(group.spot.node):
        repair = Fix((edit(solution, group.spot, "unwrap"),))
    elif name is not None:
        followed = _where_read(solution, group) if name.resolvers or name.imports else None
        repair = followed or fix(name, *to_device(solution, group.spot, name))
    return finding(
        solution, RULE, group.spot,
        f"`{short(solution.code(group.spot))}` moves to CUDA whatever machine it runs on",
        repair, unfixed=unfixed,
    )  # fmt: skip


def _of_callers(solution: Solution, spot: Location, name: DeviceExpression) -> str:
    """Return the parameter that says on which GPU something goes, where a name has nothing to do
    with what callers say: one of another file, or one that is to be defined."""
    function = solution.programs.function_of(spot)
    match spot.node:
        case ast.Call(args=[ast.Name(id=number)]) if function is not None:
            if number in syntax.parameters(function) and (name.imports or name.resolvers):
                return number
    return ""


def _where_read(solution: Solution, group: SiteGroup) -> Fix | None:
    """Return the fix that moves a constant of a module to the input that it meets, where a method
    reads it: a layer needs no device of the program for it."""
    scope, spot = group.first.scope, group.spot
    module = solution.reach.module_of(scope)
    match solution.statement_of(spot):
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=attr)]) as made:
            pass
        case _:
            return None
    if module is None or module.cls is None or not solution.reach.builds(scope):
        return None
    buffer = _as_buffer(solution, group, made)
    if buffer is not None:
        return buffer
    own = syntax.walk(module.cls.node)
    said = {
        node
        for path in solution.programs.of(spot.path)
        for node in syntax.walk(solution.programs.tree(path))
        if isinstance(node, ast.Attribute) and node.attr == attr
    }
    reads = [node for node in said if isinstance(node.ctx, ast.Load)]
    if len(said) - len(reads) != 1 or not 0 < len(reads) <= _FEW or not said <= set(own):
        return None
    edits = [edit(solution, spot, "unwrap")]
    for node in sorted(reads, key=lambda node: (node.lineno, node.col_offset)):
        place = Location(spot.path, node)
        around = solution.programs.function_of(place)
        if around is solution.programs.function_of(Location(spot.path, made)):
            return None
        name = device_names(solution).name_at(place)
        if name is None or name.resolvers or name.imports or name.edits:
            return None
        if name.code.startswith(("self.", "next(")) or written_in_place(solution, place):
            return None
        if not _holds_nothing(group):
            edits.append(edit(solution, place, "method", code=f".to({name.code})"))
    return Fix(tuple(edits))


def _as_buffer(solution: Solution, group: SiteGroup, made: ast.Assign) -> Fix | None:
    """Return the fix that makes a constant a buffer: it moves along with what it is a part of.

    That has parameters, so whoever uses it on the device has moved it. The checkpoints stay as they
    are.
    """
    match made:
        case ast.Assign(
            targets=[ast.Attribute(attr=attr)], value=ast.Call(func=ast.Attribute(value=value))
        ) if made.value is group.spot.node:
            pass
        case _:
            return None
    scope, function = group.first.scope, solution.programs.function_of(group.spot)
    if function is None or function.name != "__init__" or made not in function.body:
        return None
    modules = [solution.reach.module_of(site.scope) for site in group.sites]
    for module in modules:
        if module is None or module.cls is None:
            return None
        if not any(handing.has_parameters(whole) for whole in module.wholes()):
            return None
        if any(attr in klass.names for klass in module.cls.mro()):
            return None
        stores = [
            node
            for klass in module.cls.mro()
            for node in syntax.walk(klass.node)
            if isinstance(node, ast.Attribute) and node.attr == attr
            if isinstance(node.ctx, ast.Store | ast.Del)
        ]
        if len(stores) != 1:
            return None
    begun = any(
        isinstance(node, ast.Attribute) and node.attr == "__init__" and node.lineno < made.lineno
        for node in syntax.walk(function)
    )
    if not begun or torchfacts.module_method(attr) is not None or _holds_nothing(group):
        return None
    if not all(isinstance(site, TensorMoved) for site in group.sites):
        return None
    if not solution.holds_only_tensors(scope, attr):
        return None
    code = solution.code(Location(group.spot.path, value))
    code = f'self.register_buffer("{attr}", {code}, persistent=False)'
    place = Location(group.spot.path, made)
    return Fix((edit(solution, place, "replace_statement", code=code),))


def _holds_nothing(group: SiteGroup) -> bool:
    """Tell whether what is moved is a module without parameters and buffers: it is anywhere."""
    return all(isinstance(site, ModuleMoved) and not site.module.stateful for site in group.sites)


def _is_refused(solution: Solution, group: SiteGroup, name: DeviceExpression) -> bool:
    """Tell whether what is moved is spread over GPUs, and a name stands for the CPU where the user
    says so, too: `"cuda" if not opt.no_cuda and torch.cuda.is_available() else "cpu"`."""
    if not any(
        isinstance(site, ModuleMoved) and site.module.name.endswith(".DataParallel")
        for site in group.sites
    ):
        return False
    at = solution.reach.site_at(group.spot)
    held = [value for code, value, _ in (at.devices if at else ()) if code == name.code]
    spots = [value.spot for value in held if isinstance(value, Device) and value.spot is not None]
    return any(
        isinstance(part, (ast.Name, ast.Attribute)) and not _asks_for_cuda(part, test)
        for spot in spots
        for choice in ast.walk(solution.statement_of(spot) or spot.node)
        if isinstance(choice, ast.IfExp)
        for test in [choice.test]
        for part in ast.walk(test)
    )


def _asks_for_cuda(part: ast.AST, test: ast.expr) -> bool:
    """Tell whether a name is part of `torch.cuda.is_available` in a test."""
    return any(
        part in ast.walk(call.func)
        for call in ast.walk(test)
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("is_available")
    )


def _is_there(solution: Solution, group: SiteGroup) -> bool:
    """Tell whether `torch.ones_like(x)` is moved, and is where `x` is: on the device."""
    match group.spot.node:
        case ast.Call(func=ast.Attribute(value=ast.Call(func=func, args=[ast.Name(), *_]) as made)):
            if any(keyword.arg in (None, "device") for keyword in made.keywords):
                return False
            return syntax.dotted(func).endswith("_like") and all(
                isinstance(site, TensorMoved)
                and site.tensor is not None
                and solution.on_device(site.tensor.node)
                for site in group.sites
            )
    return False


def _is_typed(solution: Solution, spot: Location) -> bool:
    """Tell whether what is moved gets a type of CUDA's at once: `.cuda().type(torch.cuda.X)`.

    That moves by itself, and says where to.
    """
    parents = solution.programs.parents(spot.path)
    method = parents.get(spot.node)
    match parents.get(method) if method is not None else None:
        case ast.Call(func=ast.Attribute(attr="type") as func, args=[kind]) if func is method:
            said = syntax.dotted(kind)
            return ".cuda." in said and said.endswith("Tensor")
    return False


def _moved_on(solution: Solution, spot: Location) -> bool:
    """Tell whether the statement behind `x = x.cuda()` moves `x` again, as it does by itself."""
    parents = solution.programs.parents(spot.path)
    statement = parents.get(spot.node)
    match statement:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=moved))) as call,
        ) if name == moved and call is spot.node:
            pass
        case _:
            return False
    match next(parents.follows(statement), None):
        case ast.Assign(
            targets=[ast.Name(id=again)],
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id=source), attr="to"),
                args=[ast.Name() | ast.Attribute() as where],
            ),
        ) if name == again == source:
            return tests_devices(where)
    return False
