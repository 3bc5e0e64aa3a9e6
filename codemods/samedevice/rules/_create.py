"""Creations without a device: shared by the rules about drivers, modules and boundaries."""

from __future__ import annotations

from collections.abc import Iterator

from samedevice.finding import Finding, Fix
from samedevice.places.graph import Place
from samedevice.places.solution import SiteGroup, Solution
from samedevice.rules._build import NO_NAME, edit, finding, fix, meeting, short, wanted


def unplaced(solution: Solution, kind: str) -> Iterator[tuple[SiteGroup, bool]]:
    """Yield creations that must be on the device and do not say so, and whether they follow."""
    for group in solution.groups(kind):
        if any(site.constructing for site in group.sites) or not wanted(solution, group):
            continue
        if any(s.detail.get("dropped") or "device" in s.detail["kwargs"] for s in group.sites):
            continue  # rules of their own
        inside = solution.in_module(group.first.scope) or solution.follow(group) is not None
        if solution.place_of(group) is Place.FOLLOWS and solution.device_for(group) is None:
            continue  # who calls this is not known, so neither is whether it is wrong
        yield group, inside


def placed(solution: Solution, rule: str, group: SiteGroup, message: str) -> Finding:
    """Return the finding for a creation, with the fix that puts it on the device."""
    name = solution.device_for(group)
    repair: Fix | None = None
    if name is not None:
        fact = group.first.detail["fact"]
        if fact.device and group.kind != "legacy":
            change = edit(solution, group.spot, "keyword", name="device", value=name.code)
        else:
            end = solution.chain_end(group.spot)
            change = edit(solution, end, "method", code=f".to({name.code})")
        repair = fix(name, change)
    return finding(
        solution, rule, group.spot, message.format(short(solution.code(group.spot))), repair,
        origins=meeting(solution, group), unfixed=NO_NAME,
    )  # fmt: skip
