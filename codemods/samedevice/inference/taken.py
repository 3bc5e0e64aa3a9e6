"""Modules that a library's trainer has taken to its device, and what meets them afterwards.

A trainer moves the model to the accelerator, if there is one, and leaves it there. What the program
then makes on the CPU does not go with it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from samedevice.inference.events import Cloned, Creation, Shared
from samedevice.inference.nodes import Location, Place, PlaceVar
from samedevice.inference.open_events import MetTaken, Taken
from samedevice.inference.sites import SiteGroup

if TYPE_CHECKING:
    from samedevice.inference.solution import Solution

#: Values that are looked at for what one is computed from.
_STEPS = 50


def met(solution: Solution) -> Iterator[SiteGroup]:
    """Return where a tensor of the CPU meets a module that was taken before, in one function."""
    taken = {group.spot.node: group.first for group in solution.all_groups(Taken)}
    if not taken:
        return
    made: set[PlaceVar] = {
        site.node.find()
        for kind in (Creation, Shared)
        for group in solution.all_groups(kind)
        for site in group.sites
        if site.node is not None
        and not site.in_worker
        and not (isinstance(site, Creation) and site.by_default)
    }
    copied = (site.node for group in solution.all_groups(Cloned) for site in group.sites)
    made |= {node.find() for node in copied if node is not None}
    seen: set[ast.AST] = set()
    for meet in solution.graph.meetings:
        left, right = meet.left.find(), meet.right.find()
        sides = [(left, right, meet.left_spot)]
        if meet.kind not in ("index", "number"):  # these may be anywhere
            sides.append((right, left, meet.right_spot))
        for value, other, spot in sides:
            found = (taken.get(each.node) for each in pinned(other))
            trainer = next(filter(None, found), None)
            # What nobody places elsewhere is made on the CPU.
            if trainer is None or not (value.pin is Place.HOST or value in made):
                continue
            scope = solution.scope_at(spot)
            if scope is None or spot.node in seen:
                continue
            # What is prepared is another place from then on: what meets it comes later.
            later = other.place is Place.FOLLOWS or _is_below(solution, spot, trainer.spot)
            if not later:
                continue
            if solution.programs.moves_modules(spot.path) or not solution.policy.managed(spot.path):
                seen.add(spot.node)
                yield SiteGroup(spot, [MetTaken(spot, other, scope, trainer=trainer.name)])


def pinned(node: PlaceVar) -> Iterator[Location]:
    """Yield where something says where a value is, or what it is computed from."""
    queue = [node.find()]
    for root in queue:
        if root.pin_spot is not None:
            yield root.pin_spot
        elif len(queue) < _STEPS:
            queue += {source.find() for source in root.flows_from} - set(queue)


def _is_below(solution: Solution, spot: Location, earlier: Location) -> bool:
    """Tell whether an expression runs after another one: below it, in the same function."""
    home = solution.programs.function_of
    same = spot.path == earlier.path and home(spot) is home(earlier)
    return same and solution.span(earlier) < solution.span(spot)
