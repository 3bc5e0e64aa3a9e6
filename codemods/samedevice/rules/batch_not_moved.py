"""A batch from a loader is used on the device without being moved there.

Why: a DataLoader yields tensors on the CPU. Whatever of a batch meets the model or its output has
to be moved, once, at the head of the loop; labels are forgotten most often.

Example:

    for images, labels in loader:
        loss = criterion(model(images), labels)

becomes

    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        loss = criterion(model(images), labels)

Fix safety: safe. On a CPU-only machine `.to(device)` returns the same tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from samedevice.finding import DeviceExpression, Edit, Finding, Fix, Verb
from samedevice.naming import device_names
from samedevice.places import Solution
from samedevice.places.graph import Place, Spot
from samedevice.places.sites import Site, SiteGroup
from samedevice.places.values import Dict, Seq, Tensor, Value
from samedevice.rules._build import NO_NAME, edit, finding, fix, meeting, tests_devices


def find(solution: Solution) -> Iterator[Finding]:
    """Report batches, and members of batches, that meet the device."""
    statements: dict[ast.AST, list[tuple[str, Spot, SiteGroup]]] = {}
    containers: dict[ast.AST, list[tuple[str, Spot, SiteGroup]]] = {}
    for group in solution.groups("batch"):
        for site in group.sites:
            single = SiteGroup(group.kind, group.spot, [site])
            if not _is_left_behind(solution, site, single):
                continue
            held = site.detail.get("container")
            named = site.detail.get("had_name")  # the container is made of it, not the other way
            held_in = site.detail.get("held_in")
            elsewhere = site.detail.get("bound_in", held_in) is not held_in  # in a callee
            reads = _handed_on(solution, site) if elsewhere else []
            if held is not None and not named and _moves_as_one(held[2]) and elsewhere:
                containers.setdefault(held[1].node, []).append((held[0], held[1], single))
            elif reads:
                yield from _at(solution, single, reads)
            elif "bind" in site.detail:
                name, spot = site.detail["bind"]
                statements.setdefault(spot.node, []).append((name, spot, single))
            elif held is not None:
                containers.setdefault(held[1].node, []).append((held[0], held[1], single))
            else:
                yield from _operands(solution, single)
    for found in statements.values():
        yield _names(solution, found)
    for found in containers.values():
        yield from _container(solution, found)


def _is_left_behind(solution: Solution, site: Site, single: SiteGroup) -> bool:
    """Tell whether a batch certainly meets the device without having been moved there."""
    if not solution.on_device(site.node) or site.node is None:
        return False
    if not site.node.find().sure or site.hosted or site.detail.get("dropped"):
        return False
    if site.detail.get("perhaps") and solution.reach.in_module(site.scope):
        return False  # a module's input of unknown form is no batch from a loader
    if site.detail.get("part") and site.callers_unknown:
        return False  # nor is a part of what somebody hands in, who may have moved it
    if solution.place_of(single) is Place.FOLLOWS and not device_names(solution).central_for(
        single
    ):
        return False  # who calls this is not known, so neither is whether it is wrong
    if site.node.find().pin is not None:
        return False  # the data set is there as a whole
    return not _moved_by_choice(solution, site)  # whether it moves is said where that is asked


def _moved_by_choice(solution: Solution, site: Site) -> bool:
    """Tell whether the program moves what the batch is bound to, behind a test about devices."""
    name, spot = site.detail.get("bind", ("", site.spot))
    parents = solution.programs.parents(spot.path)
    home = spot.node if isinstance(spot.node, (ast.For, ast.AsyncFor)) else parents.get(spot.node)
    for node in ast.walk(home) if name and home is not None else ():
        match node:
            case ast.Assign(
                targets=[ast.Name(id=target)],
                value=ast.Call(func=ast.Attribute(value=ast.Name(id=moved), attr="cuda" | "to")),
            ) if target == moved == name:
                branch = parents.get(node)
                if isinstance(branch, ast.If) and tests_devices(branch.test):
                    return True
    return False


def _moves_as_one(value: Value, used: Collection[Site] | None = None) -> bool:
    """Tell whether all of a container can be moved: it holds tensors only, or moves itself.

    Of some members only their use says that they are tensors: of those whose sites are in `used`.
    """
    if not isinstance(value, (Seq, Dict)):
        return True
    for member in value.members():
        if not isinstance(member, Tensor):
            return False
        doubtful = member.collated or member.packed or not member.node.find().sure
        if used is not None and doubtful and member.site not in used:
            return False
    return True


def _names(solution: Solution, found: list[tuple[str, Spot, SiteGroup]]) -> Finding:
    names = sorted({name for name, _, _ in found}, key=[n for n, _, _ in found].index)
    _, spot, group = found[0]
    device = _device(solution, group, spot)
    repair: Fix | None = None
    if device is not None:
        how = ", non_blocking=True" if group.first.detail.get("pinned") else ""
        moves = ", ".join(f"{name}.to({device.code}{how})" for name in names)
        repair = fix(device, _insert(solution, spot, f"{', '.join(names)} = {moves}"))
    listed = " and ".join(f"`{name}`" for name in names)
    return finding(
        solution, "batch-not-moved", _head(spot),
        f"{listed} come{'s' if len(names) == 1 else ''} from the loader on the CPU and meet"
        f"{'s' if len(names) == 1 else ''} the device",
        repair, origins=meeting(solution, group), unfixed=NO_NAME,
    )  # fmt: skip


def _container(solution: Solution, found: list[tuple[str, Spot, SiteGroup]]) -> Iterator[Finding]:
    name, spot, group = found[0]
    value = group.first.detail["container"][2]
    if not _moves_as_one(value, [single.first for _, _, single in found]):
        for _, _, single in found:
            if "bind" in single.first.detail:
                yield _names(solution, [(*single.first.detail["bind"], single)])
            else:
                yield from _operands(solution, single)
        return
    device = _device(solution, group, spot)
    code = ""
    if device is not None:
        if isinstance(value, Dict):
            code = f"{name} = {{k: v.to({device.code}) for k, v in {name}.items()}}"
        elif isinstance(value, Seq):
            code = f"{name} = [t.to({device.code}) for t in {name}]"
        else:
            code = f"{name} = {name}.to({device.code})"
    repair = fix(device, _insert(solution, spot, code)) if device is not None and code else None
    yield finding(
        solution, "batch-not-moved", _head(spot),
        f"the tensors of `{name}` come from the loader on the CPU and meet the device",
        repair, origins=meeting(solution, group), unfixed=NO_NAME,
    )  # fmt: skip


def _operands(solution: Solution, group: SiteGroup) -> Iterator[Finding]:
    """A member that never gets a name is moved where it is handed on, or enters the operation."""
    site = group.first
    assert site.node is not None
    root = site.node.find()
    entries: dict[ast.AST, Spot] = {}
    for meet in root.meets:
        left = meet.left.find() is root
        other = meet.right if left else meet.left
        if solution.on_device(other):
            spot = meet.left_spot if left else meet.right_spot
            spot = solution.entry(root, spot, meet.function)
            if isinstance(spot.node, ast.expr):
                entries[spot.node] = spot
    several = _handed_on(solution, site) if len(entries) > 1 else []
    yield from _at(solution, group, several or entries.values())


def _at(solution: Solution, group: SiteGroup, spots: Iterable[Spot]) -> Iterator[Finding]:
    """A member is moved at these expressions."""
    for spot in spots:
        device = _device(solution, group, spot)
        repair = None
        if device is not None:
            repair = fix(device, edit(solution, spot, "method", code=f".to({device.code})"))
        yield finding(
            solution, "batch-not-moved", spot,
            f"`{solution.code(spot)}` comes from the loader on the CPU and meets the device",
            repair, origins=meeting(solution, group), unfixed=NO_NAME,
        )  # fmt: skip


def _handed_on(solution: Solution, site: Site) -> list[Spot]:
    """Return where a loop passes on a member of its batch, by its constant key."""
    name, spot, value = site.detail.get("container", ("", site.spot, None))
    if not isinstance(value, Dict):
        return []
    keys = [key for key, member in value.items.items() if getattr(member, "site", None) is site]
    parents = solution.programs.parents(spot.path)
    return [
        Spot(spot.path, node)
        for node in ast.walk(spot.node)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
        and isinstance(node.slice, ast.Constant)
        and node.slice.value in keys
        and isinstance(node.ctx, ast.Load)
        and not isinstance(parents.get(node), ast.Attribute)
    ]


def _device(solution: Solution, group: SiteGroup, spot: Spot) -> DeviceExpression | None:
    """Return the device for a move at a place; a module's methods move no batches."""
    scope = solution.interpreter.scope_of(spot)
    if (
        scope is not None
        and solution.reach.in_module(scope)
        and not solution.reach.in_module(group.first.scope)
    ):
        return None
    return device_names(solution).central_for(group)


def _insert(solution: Solution, spot: Spot, code: str) -> Edit:
    verb: Verb = "head" if isinstance(spot.node, (ast.For, ast.AsyncFor, ast.With)) else "after"
    return edit(solution, spot, verb, code=code)


def _head(spot: Spot) -> Spot:
    """Point at a loop's target rather than at the whole loop."""
    if isinstance(spot.node, (ast.For, ast.AsyncFor)):
        return Spot(spot.path, spot.node.target)
    return spot
