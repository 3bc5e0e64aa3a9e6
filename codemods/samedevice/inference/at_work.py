"""Which code computes something: a program without it has no use for a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samedevice.inference.events import Built
from samedevice.inference.open_events import Escaped, HandedTogether, MetUnknown, Undecided

if TYPE_CHECKING:
    from samedevice.inference.solution import Solution

#: Where nobody knows what is computed.
_OPEN = (Escaped, HandedTogether, MetUnknown, Undecided)


def computing(solution: Solution, *, perhaps: bool = False) -> set[str]:
    """Return the files whose code, when it runs, builds modules that are called, or computes what
    takes its time.

    `perhaps`: what nobody is seen to call counts, too, and what unknown code does with tensors.
    """
    found = set(solution.interpreter.computing)
    for group in solution.all_groups(Built):
        if any(
            site.module.used and (perhaps or not (site.in_constructor or site.callers_unknown))
            for site in group.sites
        ):
            found.add(group.spot.path)
    for kind in _OPEN if perhaps else ():
        found.update(group.spot.path for group in solution.all_groups(kind))
    return found
