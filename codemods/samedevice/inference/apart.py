"""Values that may be apart: on the device on some paths, on the CPU on others.

The graph counts such a join as being on the CPU, where nothing asks for more. What meets it is
right on one path and clashes on the other, and no edit of one place repairs both: it is told.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from samedevice.inference.events import Built, Creation
from samedevice.inference.graph import Place, PlaceVar
from samedevice.inference.open_events import HandedTogether, MetApart
from samedevice.inference.sites import Group, SiteGroup

if TYPE_CHECKING:
    from samedevice.inference.solution import Solution


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


def met(solution: Solution) -> Iterator[SiteGroup]:
    """Return what is on the device on some paths only, and meets a value that is on one side.

    A tensor of which the device asks is created there, on all paths; a module that code moves on
    some of them is not.
    """
    moved = _joined_with(_moved_modules(solution))
    mixed = [
        (joined, other, spot, meet.function)
        for meet in solution.graph.meetings
        if meet.kind == "meets" and not meet.open
        for joined, other, spot in (
            (meet.left.find(), meet.right.find(), meet.left_spot),
            (meet.right.find(), meet.left.find(), meet.right_spot),
        )
        if joined.joins
        and (
            _is_open(joined)
            and other.place in (None, Place.HOST)
            or other.place is Place.CENTRAL
            and joined in moved
        )
    ]
    made = _made(solution) if mixed else set()
    seen: set[ast.AST] = set()
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
        elif root.place is not None:
            yield root.place


def _is_open(root: PlaceVar) -> bool:
    """Tell whether a value is joined, and counts as being on the CPU only for one of its paths."""
    return root.joins and root.pin is None and (root.place is None or root.weak_host)


def _are_apart(known: Sequence[set[Place]]) -> bool:
    """Tell whether a value is certainly on one side where another may be on the other side."""
    sides = (Place.CENTRAL, Place.HOST), (Place.HOST, Place.CENTRAL)
    return any({one} in known and any(other in places for places in known) for one, other in sides)
