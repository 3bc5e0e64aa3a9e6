"""The device of the object whose method a place is in: of a module's parameters, say."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samedevice import torchfacts
from samedevice.finding import DeviceExpression, Edit
from samedevice.inference.events import Creation, Operand, TensorMoved, is_bare
from samedevice.inference.instances import method_of_moved
from samedevice.inference.nodes import Location
from samedevice.inference.objects import External, Func, Instance
from samedevice.inference.sites import Group, Site
from samedevice.inference.values import Device, FunctionNode, Tensor, always_tensor
from samedevice.reading import syntax
from samedevice.repair import handing, named
from samedevice.repair.asked import Asked
from samedevice.repair.replicas import Replicas, named_tensor
from samedevice.repair.resolvers import edited

if TYPE_CHECKING:
    from samedevice.repair.devices import DeviceNames

#: Methods of a module that a library moves which run before it does.
_BEFORE = frozenset(("__init__", "configure_model", "prepare_data", "setup"))
_SHORT = 2  # `self.encoder[0].weight`


def waits_for_library(site: Site) -> bool:
    """Tell whether code runs before a library moves its module, which knows no device yet."""
    method = _moved_by_library(site)
    return method is not None and getattr(method.node, "name", "") in _BEFORE


def moved_by_library(asked: Asked) -> DeviceExpression | None:
    """Return `self.device` for what a method of a module creates that a library moves."""
    method = _moved_by_library(asked.first) if asked.kind == "creation" else None
    return DeviceExpression(f"{syntax.parameters(method.node)[0]}.device") if method else None


def _moved_by_library(site: Site) -> Func | None:
    """Return the method that some code is in, of a module that a library moves: it has that."""
    method = method_of_moved(site)
    bound = method is not None and not method.static and not isinstance(method.node, ast.Lambda)
    return method if bound else None


def while_built(asked: Asked) -> DeviceExpression | None:
    """Return the device's name where a module has nothing yet that could be followed."""
    building = asked.kind == "operand" and not asked.follows
    if asked.module is None or not (building or is_bare(asked.site)):
        return None
    return for_a_part(asked.names, asked.site)


def for_a_part(names: DeviceNames, site: Site) -> DeviceExpression | None:
    """Return the device's name for what a module that is being built does not take along."""
    for code, value, _ in sorted(site.devices, key=named.farness):
        if names.reach.is_central(value):
            if not (isinstance(value, Device) and value.planned):
                return DeviceExpression(code, text=not isinstance(value, Device) or value.text)
            pending = named.defined(names, code, value, site)
            if pending is not None:
                return pending
    return names.resolvers.resolver(site.spot.path)


def declared(asked: Asked) -> DeviceExpression | None:
    """Return the property of a module that says its device."""
    module = asked.module
    if module is None or module.node is None or module.cls is None:
        return None
    return (
        DeviceExpression("self.device") if isinstance(module.cls.lookup("device"), Func) else None
    )


def of_parameters(asked: Asked) -> DeviceExpression | None:
    """Return the device of a module's parameters, None where none is known.

    By a name where several tensors need it.
    """
    names, group, module = asked.names, asked.group, asked.module
    if module is None or module.node is None:
        return None
    if isinstance(asked.site, Operand) and names.reach.left_on_host(asked.site.scope):
        return names.resolvers.resolver(edited(asked.site))
    if not module.stateful or _moves_own(asked, module):
        return None
    func = asked.scope.func
    set_here = syntax.set_on_self(func.node) if func is not None else set()
    perhaps = _in_one_arm(module)
    if not handing.has_parameters(module, set_here | perhaps):
        if handing.has_parameters(module, set_here):
            return None  # some of its class have none
        return _of_attribute(_first_buffer(module) or _beside(asked, module))
    if names.solution.view(Replicas).any:
        each = {names.reach.module_of(site.scope) for site in group.sites}
        known = [one for one in each if one is not None]
        tensor = named_tensor(known, set_here) if known else ""
        if tensor.count(".") + tensor.count("[") <= _SHORT:
            return _of_attribute(tensor)
        if any(one.spread for one in known):
            return None  # a name that nobody would write
    if _is_pipeline(module):
        return DeviceExpression("self.device")
    code = "next(self.parameters()).device"
    if not isinstance(group.first, Creation) or func is None or isinstance(func.node, ast.Lambda):
        return DeviceExpression(code)
    first = _first_of_several(names, func.node)
    if first is None:
        return DeviceExpression(code)
    place = names.solution.span(Location(func.scope.path, first))
    definition = (("code", f"device = {code}"),)
    return DeviceExpression("device", edits=(Edit(func.scope.path, place, "before", definition),))


def _in_one_arm(module: Instance) -> set[str]:
    """Return the attributes that a module has by a test of its constructors."""
    classes = module.cls.mro() if module.cls is not None else []
    built = [each.names.get("__init__") for each in classes]
    return {
        name
        for each in built
        if isinstance(each, Func) and isinstance(each.node, ast.FunctionDef)
        for name in syntax.set_in_one_arm(each.node)
    }


def _moves_own(asked: Asked, module: Instance) -> bool:
    """Tell whether what is moved is a parameter or a buffer of the module itself.

    Such a line says that it is elsewhere so far: the module's own device is no answer.
    """
    if asked.kind != "operand" or "self" not in asked.moved:
        return False
    groups = asked.names.solution.groups_at(TensorMoved, asked.spot.node)
    moved = [site.tensor for group in groups for site in group.sites if site.tensor is not None]
    return any(each.leaf or each.parameter or module.holds(each) for each in moved)


def _is_pipeline(module: Instance) -> bool:
    """Tell whether an object is of a pipeline of diffusers, which knows where it is."""
    return module.cls is not None and any(
        isinstance(base, External) and torchfacts.is_pipeline(base.name)
        for each in module.cls.mro()
        for base in each.bases
    )


def _of_attribute(attr: str) -> DeviceExpression | None:
    return DeviceExpression(f"self.{attr}.device") if attr else None


def _first_buffer(module: Instance) -> str:
    """Return the name of the first buffer of a module, or ""."""
    for name, value in module.attrs.items():
        if isinstance(value, Tensor) and name.isidentifier() and module.holds(value):
            return name
    return ""


def _beside(asked: Asked, module: Instance) -> str:
    """Return the attribute of a module that is the other operand of an operation, or ""."""
    solution = asked.names.solution
    end = solution.chain_end(asked.spot)
    around = asked.names.programs.parents(end.path).get(end.node)
    if not isinstance(around, ast.BinOp):
        return ""
    match around.right if around.left is end.node else around.left:
        case ast.Attribute(value=ast.Name(id="self"), attr=attr):
            held = module.attrs.get(attr)
            if isinstance(held, Tensor) and always_tensor(held):
                return attr if solution.on_device(held.node) else ""
    return ""


def _first_of_several(names: DeviceNames, function: FunctionNode) -> ast.stmt | None:
    """Return the statement of a function that creates the first of several tensors.

    None where there are not several that have nothing to follow, and where `device` is taken.
    """
    lines = [
        group.spot.node.lineno
        for group in names.creations_in.get(function, ())
        if isinstance(group.spot.node, ast.expr)
        and any(names.solution.on_device(site.node) for site in group.sites)
        and not any("device" in site.kwargs for site in group.sites)
        and (names.reach.follow(group) is None or _follows_new(names, group))
    ]
    for node in syntax.walk(function):
        if isinstance(node, ast.Name) and node.id == "device":
            return None
        if isinstance(node, ast.arg) and node.arg == "device":
            return None
    body = function.body if not isinstance(function, ast.Lambda) else []
    if len(lines) < 2:
        return None
    return next((stmt for stmt in body if (stmt.end_lineno or 0) >= min(lines)), None)


def _follows_new(names: DeviceNames, group: Group[Creation]) -> bool:
    """Tell whether what is created follows a tensor that its function creates, too."""
    followed = (names.reach.follow(group) or "").partition(".")[0].partition("[")[0]
    held = group.first.scope.names.get(followed)
    if not isinstance(held, Tensor) or not isinstance(held.site, Creation):
        return False
    made = names.creations_in.get(group.first.scope.node, ())
    return any(held.site in other.sites for other in made)
