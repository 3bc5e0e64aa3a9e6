"""What keeps a program from being converted: it moves whole or not at all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from samedevice.finding import Finding

IN_CONTAINERS = "modules-in-plain-container"


class Missing(NamedTuple):
    """What keeps scripts from being converted ("main.py:83", ...), and one that comes to it."""

    places: tuple[str, ...]
    script: str


NOTHING_MISSING = Missing((), "")


def lacking_of(runs: Sequence[Mapping[str, str]], named: Collection[str]) -> Missing:
    """Return what keeps back a fix: of any script where it names the device, else of them all."""
    found = {where: script for lacking in runs for where, script in lacking.items()}
    if not found or not named and not all(runs):
        return NOTHING_MISSING
    return Missing(tuple(found), next(iter(found.values())))


def stays(found: Finding) -> bool:
    """Tell whether what a finding is about stays on the CPU, as no safe fix moves it.

    Of modules in a container their parameters may be registered: that is asked of them.
    """
    if found.fix is None:
        return found.level != "note"
    return not found.fix.safe and found.rule != IN_CONTAINERS
