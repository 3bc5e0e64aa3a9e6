"""What is not shown is not written: edits into programs that handle their device themselves.

A program for the CPU is converted whole, by what it means. In one that puts things on a device
itself, an edit needs evidence (`places.evidence`): else its finding is a note that says what is
doubted, and the edit is for those who ask for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from samedevice.finding import Finding
from samedevice.inference.nodes import PlaceVar
from samedevice.inference.solution import Solution

UNMET = "nothing that certainly runs shows that it meets the device"
#: The same of a value that is perhaps there, and is read by code of the CPU.
NOT_THERE = "nothing that certainly runs shows that it is on the device"
#: The same of what may have no dimensions.
NUMBER = "it may be a number, which meets tensors anywhere"
#: The same of a value that is perhaps on the CPU.
NOT_ON_HOST = "nothing that certainly runs shows that it is on the CPU"


def shown(solution: Solution, found: Finding, values: Iterable[PlaceVar | None]) -> Finding:
    """Return a finding whose edit is withheld unless one of its values certainly meets the device.

    An edit that only follows what a function is handed suits every caller: it is enough that the
    value meets that.
    """
    if not asks(solution, found):
        return found
    known, values = solution.evidence, list(values)
    follows = found.fix is not None and not found.fix.named_in()
    if known.meets(values) or any(map(known.clashes, values)):
        return found
    if follows and known.follows(values):
        return found
    return doubted(found, UNMET)


def asks(solution: Solution, found: Finding) -> bool:
    """Tell whether a finding's edit needs evidence."""
    converts = solution.policy.for_the_cpu | solution.project.converted
    return found.fix is not None and found.path not in converts


def doubted(found: Finding, reason: str) -> Finding:
    """Return a finding as a note, with its edit for those who ask for unsafe ones."""
    if found.fix is None or not found.fix.safe:
        return found
    return replace(found, level="note", fix=replace(found.fix, safe=False, reason=reason))
