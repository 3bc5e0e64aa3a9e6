"""Parameters that meet what the program put on the device, of functions that nobody calls.

Such a function is right for callers who hand in what is there already, and stops for all others.
Nobody who can be seen decides, so it is told. A function whose values all follow its parameters
suits every caller, and so does one that moves what it is given.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from samedevice.inference import taken
from samedevice.inference.events import Created
from samedevice.inference.nodes import Agree, Location, Place, PlaceVar
from samedevice.inference.objects import Func, Instance, Scope
from samedevice.inference.open_events import MetByCallers, MetTaken
from samedevice.inference.sites import SiteGroup
from samedevice.inference.values import Dict, Seq, Tensor, Value
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.solution import Solution

#: What only a module is asked for.
OF_MODULES = frozenset(("eval", "train", "parameters", "named_parameters", "state_dict"))


def reads_placed(func: Func, owner: Value | None = None) -> bool:
    """Tell whether a function takes something and reads a module or tensor that the program made.

    It may do so by an attribute of `owner`, its `self`. A module's own methods suit wherever the
    module is.
    """
    spec = func.node.args
    given = [each.arg for each in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    own = func.cls is not None and func.static != "staticmethod"
    if len(given) <= own or func.cls is not None and func.cls.family:
        return False
    known = func.scope.globals.names
    attrs = owner.attrs if isinstance(owner, Instance) else {}
    for node in syntax.walk(func.node):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if own and name == given[0]:
                if _is_placed(attrs.get(attr)):
                    return True
            case ast.Name(id=name) if name not in given and _is_placed(known.get(name)):
                return True
    return False


def reads_unregistered(func: Func, owner: Instance) -> bool:
    """Tell whether a module's method reads a tensor that does not move with the module.

    It is in a plain attribute, in a container there, in the class, or in the file.
    """
    given = syntax.parameters(func.node)
    if owner.family != "module" or not given:
        return False
    known = func.scope.globals.names
    for node in syntax.walk(func.node):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name == given[0]:
                held = owner.attrs.get(attr)
                if held is None and owner.cls is not None:
                    held = owner.cls.lookup(attr)
                    if isinstance(held, Tensor):
                        return True
                if isinstance(held, Tensor) and not held.lent and attr not in owner.buffers:
                    return True
                if (
                    isinstance(held, (Seq, Dict))
                    and _has_tensors(held)
                    and attr not in owner.buffers
                ):
                    return True
            case ast.Name(id=name) if name not in given and isinstance(known.get(name), Tensor):
                return True
    return False


def _has_tensors(value: Seq | Dict) -> bool:
    return any(isinstance(member, Tensor) and not member.lent for member in value.members())


def _is_placed(value: Value | None, depth: int = 1) -> bool:
    if isinstance(value, Instance) and value.family != "module":
        return depth > 0 and any(_is_placed(held, depth - 1) for held in value.attrs.values())
    return isinstance(value, (Tensor, Instance))


def met(solution: Solution) -> Iterator[SiteGroup]:
    """Return the places where such a parameter comes in, one for each parameter, and those where
    what callers do not move meets what they do."""
    yield from _left_behind(solution)
    seen: set[ast.AST] = set()
    for meet in solution.graph.meetings:
        for value, other, spot in _handed_in(solution, meet):
            parameter = _parameter(value)
            if parameter is None or parameter.node in seen:
                continue
            spot = solution.entry(value, spot, meet.function)
            scope = solution.scope_at(spot)
            if scope is None or solution.policy.managed(spot.path):
                continue
            if solution.reach.module_of(scope) is not None or _is_called(solution, scope):
                continue
            if _is_called_by_autograd(scope):
                continue
            seen.add(parameter.node)
            called = meet.kind == "called" and value is meet.left.find()
            site = MetByCallers(spot, other, scope, parameter=parameter, called=called)
            yield SiteGroup(spot, [site])


def _left_behind(solution: Solution) -> Iterator[SiteGroup]:
    """Return where a module that nobody builds meets what stays behind when its callers move it.

    That is a tensor of its file, its class or its containers; for one in an attribute there is a
    rule.
    """
    made = {
        site.node.find()
        for group in solution.all_groups(Created)
        for site in group.sites
        if site.node is not None
        and (site.in_constructor or site.scope.func is None)
        and "device" not in site.kwargs
        and not (site.by_default or site.in_worker or site.stays)
    }
    seen: set[PlaceVar] = set()
    for meet in solution.graph.meetings if made else ():
        left, right = meet.left.find(), meet.right.find()
        sides = [(left, right, meet.left_spot)]
        if meet.kind not in ("index", "number"):
            sides.append((right, left, meet.right_spot))
        for value, other, spot in sides:
            if value not in made or value in seen or value.pin is not None:
                continue
            moved = any(isinstance(each.node, ast.ClassDef) for each in taken.pinned(other))
            scope = solution.scope_at(spot) if moved else None
            owner = solution.programs.owner(spot.path)
            by = owner[0] if owner and solution.programs.moves_modules(spot.path) else ""
            if scope is not None and (by or not solution.policy.managed(spot.path)):
                seen.add(value)
                yield SiteGroup(spot, [MetTaken(spot, other, scope, trainer=by)])


def _is_called(solution: Solution, scope: Scope) -> bool:
    """Tell whether some code calls a function, be it code that nobody calls."""
    scopes = solution.interpreter.all_scopes.get(scope.node, ())
    return any(one.call is not None and one.call.node is not one.node for one in scopes)


def _is_called_by_autograd(scope: Scope) -> bool:
    """Tell whether torch calls a function, with gradients that are where their outputs are."""
    func = scope.func
    own = func is not None and func.cls is not None and func.cls.family == "function"
    return own and getattr(scope.node, "name", "") == "backward"


def _handed_in(solution: Solution, meet: Agree) -> Iterator[tuple[PlaceVar, PlaceVar, Location]]:
    """Yield a side of a meeting that is where a parameter is, and the other, on the device.

    What is indexed by a tensor of the device has to be there; an index may be anywhere.
    """
    left, right = meet.left.find(), meet.right.find()
    sides = [(left, right, meet.left_spot)]
    if meet.kind not in ("index", "number"):
        sides.append((right, left, meet.right_spot))
    for value, other, spot in sides:
        if value.place is Place.FOLLOWS and _is_there(solution, other, meet.operation):
            if value.is_tensor or _is_product(meet) or _is_module(meet):
                yield value, other, spot


def _is_there(solution: Solution, node: PlaceVar, spot: Location) -> bool:
    """Tell whether the program put a value on the device, or will once it is converted."""
    if solution.place(node) is not Place.CENTRAL:
        return False
    return spot.path in solution.policy.for_the_cpu or solution.evidence.is_there(node)


def _is_product(meet: Agree) -> bool:
    """Tell whether values meet in `a @ b`, which numbers do not have."""
    operation = meet.operation.node
    return isinstance(operation, ast.BinOp) and isinstance(operation.op, ast.MatMult)


def _is_module(meet: Agree) -> bool:
    """Tell whether what is called is a name of which its function asks what only modules have."""
    called, function = getattr(meet.operation.node, "func", None), meet.function
    if meet.kind != "called" or not isinstance(called, ast.Name) or function is None:
        return False
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in OF_MODULES
        and isinstance(node.value, ast.Name)
        and node.value.id == called.id
        for node in syntax.walk(function)
    )


def _parameter(value: PlaceVar) -> Location | None:
    """Return the one parameter that a value is, or is computed from."""
    seen, queue = set(), [value.find()]
    found: Location | None = None
    while queue:
        root = queue.pop()
        if root in seen:
            continue
        seen.add(root)
        if root.pin is None:
            queue += (source.find() for source in root.flows_from)
        elif root.pin_spot is not None and isinstance(root.pin_spot.node, ast.arg):
            found = found or root.pin_spot
    return found
