"""Which code computes something: a program without it has no use for a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samedevice.inference.events import Built
from samedevice.inference.open_events import Escaped, HandedTogether, MetUnknown, Undecided

if TYPE_CHECKING:
    from samedevice.inference.nodes import Agree
    from samedevice.inference.solution import Solution

#: Where nobody knows what is computed.
_OPEN = (Escaped, HandedTogether, MetUnknown, Undecided)


def computing(solution: Solution, *, perhaps: bool = False) -> set[str]:
    """Return the files whose code, when it runs, builds modules that are called, or computes what
    takes its time.

    `perhaps`: so does what nobody is seen to call, what unknown code does with tensors, and what
    code does with several of them.
    """
    found = set(solution.interpreter.computing)
    for group in solution.all_groups(Built):
        if any(
            site.module.used and (perhaps or not (site.in_constructor or site.callers_unknown))
            for site in group.sites
        ):
            found.add(group.spot.path)
    if perhaps:
        for kind in _OPEN:
            found.update(group.spot.path for group in solution.all_groups(kind))
        for node in solution.graph.nodes:
            found.update(meet.operation.path for meet in node.meets if not _prepares(meet))
    return found


def _prepares(meet: Agree) -> bool:
    """Tell whether values meet in code that nobody is seen to call, or while a module is built."""
    return meet.open or getattr(meet.function, "name", "") == "__init__"
