"""Modules that a library's trainer has taken to its device, and what meets them afterwards.

A trainer moves the model to the accelerator, if there is one, and leaves it there. What the program
then makes on the CPU does not go with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from samedevice.inference.events import Creation, Shared
from samedevice.inference.nodes import Location, Place
from samedevice.inference.open_events import MetTaken, Taken
from samedevice.inference.sites import SiteGroup

if TYPE_CHECKING:
    from samedevice.inference.solution import Solution


def met(solution: Solution) -> Iterator[SiteGroup]:
    """Return where a tensor of the CPU meets a module that was taken before, in one function."""
    taken = {group.spot.node: group.first for group in solution.groups(Taken)}
    if not taken:
        return
    groups = (*solution.groups(Creation), *solution.groups(Shared))
    made = {site.node.find() for each in groups for site in each.sites if site.node is not None}
    for meet in solution.graph.meetings:
        left, right = meet.left.find(), meet.right.find()
        for value, other, spot in (left, right, meet.left_spot), (right, left, meet.right_spot):
            trainer = taken.get(other.pin_spot.node) if other.pin_spot is not None else None
            # What nobody places elsewhere is made on the CPU.
            if trainer is None or not (value.pin is Place.HOST or value in made):
                continue
            scope = solution.scope_at(spot)
            if scope is not None and _is_below(solution, spot, trainer.spot):
                yield SiteGroup(spot, [MetTaken(spot, other, scope, trainer=trainer.name)])


def _is_below(solution: Solution, spot: Location, earlier: Location) -> bool:
    """Tell whether an expression runs after another one: below it, in the same function."""
    home = solution.programs.function_of
    same = spot.path == earlier.path and home(spot) is home(earlier)
    return same and solution.span(earlier) < solution.span(spot)
