"""Where a process is forked that computes with modules: CUDA does not work in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samedevice.inference import contents
from samedevice.inference.events import Built
from samedevice.inference.nodes import Location
from samedevice.inference.objects import Class, External

if TYPE_CHECKING:
    from samedevice.inference.solution import Solution

_PROCESSES = frozenset(("multiprocessing.Process", "torch.multiprocessing.Process"))


def forks(solution: Solution) -> list[Location]:
    """Return the places where a process is forked that computes with modules."""
    spots = list(solution.interpreter.forks)
    starts = {klass for klass in solution.interpreter.classes if _is_process(klass)}
    processes = {k for k in solution.interpreter.classes if not starts.isdisjoint(k.mro())}
    for klass in processes:
        for value in klass.symbolic.attrs.values() if klass.symbolic is not None else ():
            if contents.modules_in(value):
                spots.append(Location(klass.scope.path, klass.node))
    for group in solution.all_groups(Built) if processes else ():
        for site in group.sites:
            if site.scope.func is not None and site.scope.func.cls in processes:
                spots.append(site.spot)
    return [spot for spot in spots if not solution.programs.spawns(spot.path)]


def _is_process(klass: Class) -> bool:
    return any(isinstance(base, External) and base.name in _PROCESSES for base in klass.bases)
