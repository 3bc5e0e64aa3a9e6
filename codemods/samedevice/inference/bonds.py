"""Which lines of a program use values whose places depend on each other."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from samedevice.inference.events import Built, Drawn
from samedevice.inference.nodes import Cause, Location, PlaceVar
from samedevice.inference.solution import Solution
from samedevice.inference.united import united


@dataclass(frozen=True)
class Bonds:
    """The groups of values of a program, by the numbers that they have here.

    Values are in one group when one of them is computed from, meets, indexes, fills or is drawn
    from another, however many steps away: where one is moved, all of them may have to be. `used`
    are for each file its lines, each followed by the groups of the values that it uses. `seeds` are
    the groups of which the program itself puts nothing on a device.
    """

    used: tuple[tuple[str, tuple[tuple[int, ...], ...]], ...] = ()
    seeds: tuple[int, ...] = ()

    @cached_property
    def lines(self) -> dict[tuple[str, int], tuple[int, ...]]:
        """For each file and line the groups of the values that it uses."""
        return {(path, line): tuple(groups) for path, lines in self.used for line, *groups in lines}

    @cached_property
    def idle(self) -> frozenset[int]:
        """The groups of which the program itself puts nothing on a device."""
        return frozenset(self.seeds)


def bonds(solution: Solution) -> Bonds:
    """Return what belongs together in a program."""
    graph = solution.graph
    index, groups = united(graph)
    roots = list(index)
    spots: list[tuple[int, Location]] = []
    for meet in graph.meetings:
        left, right = index[meet.left.find()], index[meet.right.find()]
        spots += (left, meet.left_spot), (right, meet.right_spot)
    for number, root in enumerate(roots):
        spots += ((number, spot) for spot in root.spots)
    for site in solution.interpreter.sites:
        if isinstance(site.node, PlaceVar):
            number = index[site.node.find()]
            spots.append((number, site.spot))
            if isinstance(site, Drawn):  # it is moved where it gets its name
                named = (site.bound, site.held)
                spots += ((number, bound.spot) for bound in named if bound is not None)
            elif isinstance(site, Built) and site.returned is not None:
                spots.append((number, site.returned))  # it is moved where a function returned it
    found: dict[str, dict[int, set[int]]] = {}
    for number, spot in spots:
        group = groups.of(number)
        lines = found.setdefault(spot.path, {})
        for line in _lines(spot.node):
            lines.setdefault(line, set()).add(group)
    used = (
        (path, tuple((line, *sorted(used)) for line, used in lines.items()))
        for path, lines in found.items()
    )
    idle = {groups.of(number) for root, number in index.items() if root.cause is Cause.SEED}
    return Bonds(tuple(used), tuple(sorted(idle)))


def _lines(node: ast.AST) -> range:
    first = getattr(node, "lineno", 0)
    if isinstance(node, ast.stmt):  # its body is judged by itself
        return range(first, first + 1)
    return range(first, (getattr(node, "end_lineno", None) or first) + 1)
