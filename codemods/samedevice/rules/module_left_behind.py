"""A copy of a module is made before the original moves, and stays on the CPU.

Why: `copy.deepcopy` copies a module where it is. Moving the original afterwards leaves a target
network or an average behind.

Example:

    target = copy.deepcopy(model)
    model.to(device)

becomes

    target = copy.deepcopy(model).to(device)
    model.to(device)

Fix safety: safe. On a CPU-only machine moving a module changes nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import Finding, Fix
from samedevice.inference import Solution
from samedevice.inference.events import Built, Cloned, Copied, Optimizes, PlainTensor
from samedevice.inference.nodes import Location, Place
from samedevice.inference.sites import SiteGroup
from samedevice.repair import device_names
from samedevice.rules._build import NO_NAME, edit, finding, fix, short


def _clones(solution: Solution) -> Iterator[Finding]:
    """Copies of parameters that are made before the module moves."""
    registered = {  # as buffers, by a rule of their own
        site.value.node for group in solution.groups(PlainTensor) for site in group.sites
    }
    for group in solution.groups(Cloned):
        site = group.first
        if not solution.on_device(site.node) or site.node in registered:
            continue
        if not (site.module.has_moved() or site.is_of_whole()):
            continue
        names = device_names(solution)
        name = names.built_at(site) if site.is_of_whole() else names.central_for(group)
        repair = None
        if name is not None:
            repair = fix(name, edit(solution, group.spot, "method", code=f".to({name.code})"))
        yield finding(
            solution, "module-left-behind", group.spot,
            f"`{short(solution.code(group.spot))}` copies a parameter before its module moves, so "
            "the copy stays on the CPU",
            repair, unfixed=NO_NAME,
        )  # fmt: skip


def _optimizers(solution: Solution) -> Iterator[Finding]:
    """Optimizers of a module that is built again before anybody calls it.

    That is done by another statement for the same name: the same one builds for another program.
    """
    called = {
        (name, site.scope.node, site.spot.node)
        for group in solution.groups(Built)
        for site in group.sites
        if site.module.used
        for name in _names(solution, site.spot)
    }
    for group in solution.groups(Optimizes):
        for made in group.first.modules:
            if made.used or made.site is None or made.parent is not None:
                continue
            built = made.site.spot.node
            names = {(name, made.site.scope.node) for name in _names(solution, made.site.spot)}
            if any((name, home) in names and built is not other for name, home, other in called):
                yield finding(
                    solution, "module-left-behind", group.spot,
                    f"`{short(solution.code(group.spot))}` optimizes a module that is never "
                    "called: another one took its name",
                    None, unfixed="samedevice cannot know which of the two modules is meant",
                )  # fmt: skip
                break


def _names(solution: Solution, spot: Location) -> list[str]:
    """Return what a module is called that is built at a place, as the code writes it."""
    match solution.statement_of(spot):
        case ast.Assign(targets=targets):
            return [ast.unparse(target) for target in targets]
        case ast.AnnAssign(target=target):
            return [ast.unparse(target)]
    return []


def find(solution: Solution) -> Iterator[Finding]:
    """Report copies that were made before the move."""
    yield from _clones(solution)
    yield from _optimizers(solution)
    for group in solution.groups(Copied):
        site = group.first
        copied, original = site.made, site.original
        before = site.moves
        if copied.parent is not None or not copied.stateful:
            continue
        if len(original.moves) <= before or len(copied.moves) > before:
            continue
        if before or solution.place(copied.node) is not Place.CENTRAL:
            continue
        spot = group.spot
        named: SiteGroup = group
        if original.site is not None and original.site.scope is not site.scope:
            # The copy is made inside another function: moving the original early serves both.
            spot = Location(original.site.spot.path, original.site.spot.node)
            named = SiteGroup(spot, [original.site])
        name = device_names(solution).central_for(named)
        repair: Fix | None = None
        if name is not None:
            repair = fix(name, edit(solution, spot, "method", code=f".to({name.code})"))
        yield finding(
            solution, "module-left-behind", spot,
            f"`{short(solution.code(group.spot))}` copies the module before it moves, so the copy "
            "stays on the CPU",
            repair, unfixed=NO_NAME,
        )  # fmt: skip
