"""How many values of a program have a known place: what `check` counts beside its findings."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping

from samedevice.inference.events import Cloned, Creation, Drawn, Loaded, ModuleMade, Placing
from samedevice.inference.focus import Target
from samedevice.inference.nodes import Place, PlaceVar
from samedevice.inference.sites import Site
from samedevice.inference.solution import Solution
from samedevice.inference.values import Device

_COUNTED = (Creation, Cloned, Drawn, Loaded, ModuleMade, Placing)


def tally(solution: Solution) -> dict[Target, int]:
    """Return how many expressions bring a tensor or module to a known place, by definition.

    It is made, copied, loaded, drawn from a loader or moved there. One that is made without a word
    about its device is on the CPU. However often an expression is evaluated, it counts once.
    """
    found: dict[ast.AST, str] = {}
    for kind in _COUNTED:
        for group in solution.all_groups(kind):
            if any(_is_known(solution, site) for site in group.sites):
                found[group.spot.node] = group.spot.path
    definition = solution.interpreter.definition
    counted = Counter((path, definition(path, node)) for node, path in found.items())
    return dict(sorted(counted.items()))


def by_file(counted: Mapping[Target, int]) -> dict[str, int]:
    """Return how many there are in each file."""
    found: Counter[str] = Counter()
    for (path, _), number in counted.items():
        found[path] += number
    return dict(found)


def _is_known(solution: Solution, site: Site) -> bool:
    match site:
        case Creation() | ModuleMade():
            return True
        case Drawn() if not site.perhaps:
            return True
        case Placing(device=device) | Loaded(mapped=(Device() as device, _)):
            if device is not None and (device.resolved or _has_place(solution, device.node)):
                return True
    return not isinstance(site, Placing) and _has_place(solution, site.node)


def _has_place(solution: Solution, node: PlaceVar | None) -> bool:
    return solution.place(node) is not Place.UNKNOWN
