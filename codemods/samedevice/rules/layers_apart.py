"""Layers of one module are on different devices.

Why: a layer that is moved while the module is built is on the device before the other layers.
Activations then meet weights on another device. The module is moved once, as a whole, by the code
that builds it.

Example:

    self.first = nn.Linear(4, 8).to(device)
    self.second = nn.Linear(8, 2)

becomes

    self.first = nn.Linear(4, 8)
    self.second = nn.Linear(8, 2)

and `model = Two()` becomes `model = Two().to(device)`.

Fix safety: safe. On a CPU-only machine moving a module changes nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import DeviceExpression, Finding, Fix
from samedevice.inference import Solution
from samedevice.inference.events import Built, ModuleMoved
from samedevice.inference.nodes import Place
from samedevice.inference.objects import Instance
from samedevice.inference.sites import Group
from samedevice.inference.values import Tensor
from samedevice.reading import syntax
from samedevice.rules import module_not_moved
from samedevice.rules._build import edit, finding, fix, short


def find(solution: Solution) -> Iterator[Finding]:
    """Report layers that are moved while their siblings are not."""
    apart = {
        site.module.parent
        for group in solution.groups(ModuleMoved)
        for site in group.sites
        if solution.place(site.device.node) is Place.FIXED
    }  # these are split over several devices on purpose
    whole: set[Instance] | None = None
    for group in solution.groups(ModuleMoved):
        site = group.first
        moved = site.module
        parent = moved.parent
        if not site.in_constructor or parent is None or parent in apart or parent.moves:
            continue
        if _follows_a_part(group.spot.node, parent):
            continue  # it is not before the others: wherever that part is, they agree
        to_host = solution.place(site.device.node) is Place.HOST
        if to_host:
            if not solution.clashing(moved.node):
                continue
        elif not _leaves_some_behind(parent) or not solution.on_device(parent.node):
            continue  # all of it moves layer by layer, or it is led to where the layer is
        call = group.spot.node
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
            continue
        repair: Fix | None = None
        if parent.wholes()[-1].site is None:
            continue  # no code in sight builds the module, and so none would move it
        unfixed = "the layer is moved by a statement of its own"
        if whole is None:
            whole = _moved_whole(solution)
        if not (to_host or _wholes(solution, group) <= whole):
            if not (solution.clashing(parent.node) or solution.clashing(moved.node)):
                continue  # nobody moves all of it, and what computes was moved by itself
            unfixed = "not every place that builds its module moves that as a whole"
        elif isinstance(call.func.value, ast.Call):
            repair = fix(DeviceExpression(""), edit(solution, group.spot, "unwrap"))
        yield finding(
            solution, "layers-apart", group.spot,
            f"`{short(solution.code(group.spot))}` moves one layer before the rest of its module",
            repair, unfixed=unfixed,
        )  # fmt: skip


def _wholes(solution: Solution, group: Group[ModuleMoved]) -> set[Instance]:
    """Return what has to be moved in place of a layer: all that is built of its module's class."""
    owners = [site.module.parent for site in group.sites if site.module.parent is not None]
    classes = {owner.cls for owner in owners if owner.cls is not None}
    built = [site.module for each in solution.all_groups(Built) for site in each.sites]
    owners += [module for module in built if module.cls in classes]
    return {owner.wholes()[-1] for owner in owners}


def _moved_whole(solution: Solution) -> set[Instance]:
    """Return the modules that go to the device where they are built, or will after a repair."""
    found: set[Instance] = set()
    for unmoved, holds in module_not_moved.unmoved(solution):
        repair = None if holds else module_not_moved.report(solution, "", unmoved).fix
        if repair is not None and repair.safe:
            found |= {site.module for site in unmoved.sites}
    for group in solution.groups(ModuleMoved):
        if solution.place(group.first.device.node) is Place.CENTRAL:
            found |= {site.module for site in group.sites if _where_built(site)}
    return found


def _where_built(moved: ModuleMoved) -> bool:
    """Tell whether a module is moved in the expression that builds it: before anything uses it."""
    built = moved.module.site
    return built is not None and any(node is built.spot.node for node in ast.walk(moved.spot.node))


def _follows_a_part(call: ast.AST, module: Instance) -> bool:
    """Tell whether a layer is moved to where another part of its module is (`self.body.device`)."""
    given = [*call.args, *(k.value for k in call.keywords)] if isinstance(call, ast.Call) else []
    return any(
        isinstance(asked, ast.Attribute)
        and asked.attr == "device"
        and any(
            isinstance(part, ast.Attribute)
            and isinstance(part.value, ast.Name)
            and isinstance(module.attrs.get(part.attr), (Instance, Tensor))
            for part in syntax.walk(asked.value)
        )
        for asked in given
    )


def _leaves_some_behind(module: Instance) -> bool:
    """Tell whether a module holds layers or tensors of its own that nobody moves one by one."""
    held = [*module.attrs.values(), *module.parts]
    return any(
        isinstance(each, Instance)
        and each.family == "module"
        and each.stateful
        and not each.moves
        or isinstance(each, Tensor)
        and module.holds(each)
        for each in held
    )
