"""Values that may be apart: on the device on some paths, on the CPU on others.

The graph counts such a join as being on the CPU, where nothing asks for more. What meets it is
right on one path and clashes on the other, and no edit of one place repairs both: it is told.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from samedevice.inference.events import Built, Creation, Remembered
from samedevice.inference.nodes import Agree, Location, Place, PlaceVar
from samedevice.inference.objects import Func, Scope
from samedevice.inference.open_events import (
    HandedTogether,
    MetApart,
    MetKept,
    MovedAlone,
    NotFollowed,
    ReadApart,
)
from samedevice.inference.sites import Group, SiteGroup
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.solution import Solution

#: Names and methods that are followed back to the attribute that a value is read from.
_HOPS = 3


def handed(solution: Solution) -> Iterator[SiteGroup]:
    """Return the calls that take tensors of the device and of the CPU to unknown code."""
    groups = list(solution.groups(HandedTogether))
    made = _made(solution) if groups else set()
    for group in groups:
        for site in group.sites:
            known = [set(_possible(node, made)) for node in site.nodes]
            if not site.callers_unknown and _are_apart(known):
                yield group
                break


def read(solution: Solution) -> Iterator[SiteGroup]:
    """Return what code for the CPU reads that is a tensor of the device, or something else."""
    for group in solution.groups(ReadApart):
        if any(
            not site.callers_unknown
            and site.node is not None
            and site.node.find().is_tensor
            and solution.place(site.node) is Place.CENTRAL
            for site in group.sites
        ):
            yield group


def not_followed(solution: Solution) -> Iterator[SiteGroup]:
    """Return the calls that were not followed whole, and are given something on the CPU."""
    groups = list(solution.groups(NotFollowed))
    made = _made(solution) if groups else set()
    for group in groups:
        path = group.spot.path
        if not solution.policy.has_device(path) or solution.policy.managed(path):
            continue
        if any(
            not site.callers_unknown
            and any(Place.HOST in _possible(node, made) for node in site.nodes)
            for site in group.sites
        ):
            yield group
    for alone in solution.groups(MovedAlone):
        if solution.on_device(alone.first.node):
            yield alone


def met(solution: Solution) -> Iterator[SiteGroup]:
    """Return what is on the device on some paths only, and meets a value that is on one side.

    A tensor of which the device asks is created there, on all paths; a module that code moves on
    some of them is not.
    """
    moved = _joined_with(_moved_modules(solution))
    mixed = [
        (joined, other, spot, meet.function)
        for meet, joined, other, spot, _ in _sides(solution)
        if joined.joins
        and (
            _is_open(joined)
            and other.place in (None, Place.HOST)
            or other.place is Place.CENTRAL
            and joined in moved
        )
    ]
    made = _made(solution) if mixed else set()
    seen: set[ast.AST] = {group.spot.node for group in kept(solution)} if mixed else set()
    for joined, other, spot, function in mixed:
        spot = solution.entry(joined, spot, function)
        scope = solution.scope_at(spot)
        if scope is None or spot.node in seen or solution.policy.managed(spot.path):
            continue
        on_host = set(_possible(other, made)) == {Place.HOST}
        if on_host and not {Place.CENTRAL, Place.HOST} <= set(_possible(joined, made)):
            continue
        if on_host or other.place is Place.CENTRAL:
            seen.add(spot.node)
            yield SiteGroup(spot, [MetApart(spot, joined, scope, on_host=on_host)])


def kept(solution: Solution) -> list[Group[MetKept]]:
    """Return the tensors that were kept from an earlier call and meet what is elsewhere by then."""
    return solution.view(_kept)


def _kept(solution: Solution) -> list[Group[MetKept]]:
    groups = list(solution.groups(Remembered))
    made = _made(solution) if groups else set()
    there: dict[PlaceVar, dict[str, Location]] = {}
    left: dict[PlaceVar, dict[str, Location]] = {}  # on the CPU, where an input was
    for site in (site for group in groups for site in group.sites if site.node is not None):
        assert site.node is not None
        if solution.evidence.is_there(site.node):
            there.setdefault(site.node.find(), {}).setdefault(site.name, site.spot)
        elif _follows(site.node) and set(_possible(site.node, made)) == {Place.HOST}:
            left.setdefault(site.node.find(), {}).setdefault(site.name, site.spot)
    found: dict[ast.AST, Group[MetKept]] = {}
    for meet, held, other, spot, beside in _sides(solution) if there or left else ():
        sources = _sources(held)
        if there.keys().isdisjoint(sources) and left.keys().isdisjoint(sources):
            continue
        on_host = other.place in (None, Place.HOST) and set(_possible(other, made)) == {Place.HOST}
        if not (on_host or other.place is Place.CENTRAL and solution.evidence.is_there(other)):
            continue
        names: dict[str, Location] = {}
        for root in sources:
            names |= (there if on_host else left).get(root, {})
        if not names:
            continue
        scope = solution.scope_at(spot)
        if scope is not None and not _read(spot.node, scope) & names.keys():
            # It was handed in by somebody who keeps it, or it only is where something is kept.
            spot = solution.entry(held, spot, meet.function)
            scope = solution.scope_at(spot)
        if scope is None or spot.node in found or solution.policy.managed(spot.path):
            continue
        read = _read(spot.node, scope) & names.keys()
        if read and not _is_made_anew(scope, read):
            event = MetKept(
                spot, held, scope, since=names[min(read)], on_host=on_host,
                other=solution.entry(other, beside, meet.function),
            )  # fmt: skip
            found[spot.node] = Group(spot, [event])
    return list(found.values())


def _is_made_anew(scope: Scope, attributes: Collection[str]) -> bool:
    """Tell whether a class asks where it keeps something, to make it anew: `self.table.device !=
    x.device`."""
    klass = scope.func.cls if scope.func is not None else None
    return any(
        isinstance(part, ast.Attribute)
        and part.attr == "device"
        and isinstance(part.value, ast.Attribute)
        and part.value.attr in attributes
        for compare in syntax.walk(scope.node if klass is None else klass.node)
        if isinstance(compare, ast.Compare)
        for part in ast.walk(compare)
    )


def _follows(node: PlaceVar) -> bool:
    """Tell whether a value that is kept was made where an input was."""
    return any(root.kept for root in (node.find(), *(s.find() for s in node.find().flows_from)))


def _read(node: ast.AST, scope: Scope, depth: int = _HOPS) -> set[str]:
    """Return the attributes that an expression is taken from, by a name or a method perhaps."""
    inner = node
    while True:
        match inner:
            case ast.Attribute(attr=attr, value=ast.Name()):
                return {attr}
            case ast.Call(func=ast.Attribute(attr=attr, value=ast.Name(id="self"))) if depth:
                klass = scope.func.cls if scope.func is not None else None
                method = klass.lookup(attr) if klass is not None else None
                given = _returned(method.node) if isinstance(method, Func) else []
                return set[str]().union(*(_read(each, scope, depth - 1) for each in given))
            case ast.Attribute(value=inner) | ast.Subscript(value=inner):
                pass
            case ast.Call(func=ast.Attribute(value=inner)):
                pass
            case ast.Name(id=name) if depth:
                given = [
                    made.value
                    for made in _assigned(scope.node)
                    if any(isinstance(t, ast.Name) and t.id == name for t in made.targets)
                ]
                return set[str]().union(*(_read(each, scope, depth - 1) for each in given))
            case _:
                return set()


def _assigned(function: ast.AST) -> list[ast.Assign]:
    return [each for each in syntax.statements(function) if isinstance(each, ast.Assign)]


def _returned(function: ast.AST) -> list[ast.expr]:
    ends = [each for each in syntax.statements(function) if isinstance(each, ast.Return)]
    return [end.value for end in ends if end.value is not None]


def _sides(
    solution: Solution,
) -> Iterator[tuple[Agree, PlaceVar, PlaceVar, Location, Location]]:
    """Yield each meeting that certainly happens, once for each side: it, and the other one."""
    for meet in solution.graph.meetings:
        if meet.kind == "meets" and not meet.open:
            left, right = meet.left.find(), meet.right.find()
            yield meet, left, right, meet.left_spot, meet.right_spot
            yield meet, right, left, meet.right_spot, meet.left_spot


def _sources(node: PlaceVar) -> set[PlaceVar]:
    """Return a value, and those of which it is one."""
    found, queue = set[PlaceVar](), [node.find()]
    while queue:
        root = queue.pop()
        if root not in found:
            found.add(root)
            queue += (source.find() for source in root.flows_from if root.joins and not root.pin)
    return found


def _moved_modules(solution: Solution) -> set[PlaceVar]:
    """Where modules are until code moves them, if it does so on some paths only."""
    return {
        site.node.find()
        for group in solution.all_groups(Built)
        for site in group.sites
        if site.node is not None
        and site.module.moves
        and not site.callers_unknown
        and site.node.find().pin is None
    }


def _joined_with(places: Collection[PlaceVar]) -> set[PlaceVar]:
    """Joined values that are in one of these places on some path, and those joined of them."""
    found: set[PlaceVar] = set()
    queue = list(places)
    while queue:
        for target in queue.pop().flows_to:
            root = target.find()
            if root.joins and root not in found:
                found.add(root)
                queue.append(root)
    return found


def _made(solution: Solution) -> set[PlaceVar]:
    """The values that are created without a device: they are on the CPU if nothing asks."""
    groups: list[Group[Creation] | Group[Built]] = []
    groups += solution.all_groups(Creation)
    groups += solution.all_groups(Built)
    return {site.node.find() for each in groups for site in each.sites if site.node}


def _possible(node: PlaceVar, made: Collection[PlaceVar]) -> Iterator[Place]:
    """Yield where a value may be; what is `made` and not asked for anywhere is on the CPU."""
    seen, queue = set(), [node.find()]
    while queue:
        root = queue.pop()
        if root in seen:
            continue
        seen.add(root)
        if _is_open(root):
            queue += (source.find() for source in root.flows_from)
        elif root.place is None and root in made:
            yield Place.HOST
        elif root.place is None:
            queue += (source.find() for source in root.flows_from)
        elif root.place is not None:
            yield root.place


def _is_open(root: PlaceVar) -> bool:
    """Tell whether a value is joined, and counts as being on the CPU only for one of its paths."""
    return root.joins and root.pin is None and (root.place is None or root.weak_host)


def _are_apart(known: Sequence[set[Place]]) -> bool:
    """Tell whether a value is certainly on one side where another may be on the other side."""
    sides = (Place.CENTRAL, Place.HOST), (Place.HOST, Place.CENTRAL)
    return any({one} in known and any(other in places for places in known) for one, other in sides)
