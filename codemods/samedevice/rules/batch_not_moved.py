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

A batch of several layers (a mapping of lists, a named tuple, a dataclass) is moved whole, by the
project's own function for that or by one that is added: `batch = move_to(batch, device)`.

Fix safety: safe. On a CPU-only machine `.to(device)` returns the same tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from samedevice.finding import DeviceExpression, Edit, Finding, Fix, Verb
from samedevice.inference import Solution
from samedevice.inference.events import Bound, Drawn
from samedevice.inference.nodes import Location, Place
from samedevice.inference.sites import Group, Site, SiteGroup
from samedevice.inference.values import Dict, Doubt, Seq, Tensor, Value
from samedevice.repair import device_names
from samedevice.rules import _whole_batch
from samedevice.rules._build import NO_NAME, edit, finding, fix, meeting, tests_devices
from samedevice.rules._shown import NOT_ON_HOST, asks, doubted, shown

#: Why nothing is moved where it is used.
TAKEN = "the whole batch is handed on, and has to be moved with all its parts"
IN_PARTS = "other parts of it are read in the same statement"


def find(solution: Solution) -> Iterator[Finding]:
    """Report batches, and members of batches, that meet the device."""
    batches: dict[tuple[ast.AST, str], list[Group[Drawn]]] = {}
    rest: list[Group[Drawn]] = []
    singles = (Group(g.spot, [site]) for g in solution.groups(Drawn) for site in g.sites)
    left = [each for each in singles if _is_left_behind(solution, each.first, each)]
    alone = {single.first for single in left}  # a batch that moves itself, with its parts
    for single in left:
        bound, root = _structure(single.first), _whole_batch.root(single.first)
        if root is not single.first and root in alone:
            continue  # it comes along
        if bound is not None:
            batches.setdefault((bound.spot.node, bound.name), []).append(single)
        else:
            rest.append(single)
    for found in batches.values():
        whole = _whole(solution, found)
        if whole is not None:
            yield whole
        else:
            rest += found
    yield from _whole_or_not(solution, rest)


def _whole_or_not(solution: Solution, rest: Iterable[Group[Drawn]]) -> Iterator[Finding]:
    """Report tensors one by one, but nothing of a batch is moved where a part has to stay.

    That is what a module takes of a batch of unknown form, or of an object, which it was handed
    whole.
    """
    batches: dict[Drawn | ast.AST | None, list[Group[Drawn]]] = {}
    for single in rest:
        site = single.first
        nameless = site.bound is None and site.held is None and site.owner is None
        part = single.spot.node if nameless else None
        whole = _whole_batch.root(site) if site.whole is not None else part
        batches.setdefault(whole, []).append(single)
    needed: dict[Drawn, set[Site]] = {}
    for group in solution.groups(Drawn) if any(isinstance(b, Drawn) for b in batches) else ():
        for site in group.sites:
            if solution.on_device(site.node) and solution.given(site.node) is None:
                needed.setdefault(_whole_batch.root(site), set()).add(site)
    for whole, parts in batches.items():
        found = list(_one_by_one(solution, parts))
        stays = [each.fix is None for each in found]
        if isinstance(whole, Drawn):
            left = not needed.get(whole, set()) <= {part.first for part in parts}
            half = not solution.on_device(whole.node) and (any(stays) or left)
        else:
            half = whole is not None and any(stays) and not all(stays)
        yield from (replace(each, fix=None, unfixed=TAKEN) for each in found) if half else found


def _structure(site: Drawn) -> Bound | None:
    """Return the name of the batch with structure that a tensor is a part of, if there is one."""
    if site.within is not None:
        return site.within
    if site.whole is not None:
        return _whole_batch.root(site).bound
    mixed = isinstance(site.container, Dict) and site.bound is None and not site.named
    return site.held if mixed else None


def _whole(solution: Solution, found: list[Group[Drawn]]) -> Finding | None:
    """Return the finding for a batch that a function moves whole, None where names will do."""
    bound = _structure(found[0].first)
    assert bound is not None
    sites = [group.first for group in found]
    if _whole_batch.is_given_as_keywords(solution, found, bound) or _whole_batch.moves_itself(
        solution, found
    ):
        return next(_container(solution, [(bound, group) for group in found]))
    if sites[0].whole is not None:
        needed = _whole_batch.leaves(solution, found, bound)
    elif bound is sites[0].within:
        held = {site for site in sites if _moves_as_one(solution, site.container, sites)}
        needed = not _whole_batch.in_one_line(found, bound, held)
    else:
        mixed = not _moves_as_one(solution, sites[0].container, sites)
        needed = mixed and (
            _whole_batch.are_many(solution, found) or _whole_batch.is_spread(solution, found, bound)
        )
    if not needed:
        return None
    spot, name = bound.spot, bound.name
    device = _device(solution, found[0], spot)
    mover = device and _whole_batch.mover_for(solution, found, bound, device)
    if device is None or mover is None:
        return None
    move = _insert(solution, spot, f"{name} = {mover.code}({name}, {device.code})")
    repair = Fix(
        (*move, *device.edits), imports=device.imports,
        resolvers=(*device.resolvers, *mover.resolvers),
    )  # fmt: skip
    whole = finding(
        solution, "batch-not-moved", _head(spot),
        f"the tensors of `{name}` {_come(found[0])} and meet the device",
        repair, origins=meeting(solution, found[0]), unfixed=NO_NAME,
    )  # fmt: skip
    return _as_drawn(solution, whole, found)


def _one_by_one(solution: Solution, found: Iterable[Group[Drawn]]) -> Iterator[Finding]:
    """Report tensors of batches that are moved under their names, or where they are used."""
    statements: dict[ast.AST, list[tuple[Bound, Group[Drawn]]]] = {}
    containers: dict[ast.AST, list[tuple[Bound, Group[Drawn]]]] = {}
    objects: dict[ast.AST, list[Group[Drawn]]] = {}
    for single in found:
        site = single.first
        held, bound = site.held, site.bound
        held_in = held.inside if held is not None else None
        elsewhere = bound is not None and bound.inside is not held_in  # in a callee
        reads = _handed_on(solution, site) if elsewhere else []
        # A container that is made of what has a name is not what the name is taken from.
        if (
            held is not None
            and not site.named
            and _moves_as_one(solution, site.container)
            and elsewhere
        ):
            containers.setdefault(held.spot.node, []).append((held, single))
        elif reads:
            yield from _at(solution, single, reads)
        elif bound is not None:
            statements.setdefault(bound.spot.node, []).append((bound, single))
        elif held is not None:
            containers.setdefault(held.spot.node, []).append((held, single))
        elif site.owner is not None:
            objects.setdefault(site.owner.spot.node, []).append(single)
        else:
            yield from _operands(solution, single)
    for names in statements.values():
        yield _names(solution, names)
    for members in containers.values():
        yield from _container(solution, members)
    for attributes in objects.values():
        yield from _object(solution, attributes)


def _is_left_behind(solution: Solution, site: Drawn, single: Group[Drawn]) -> bool:
    """Tell whether a batch certainly meets the device without having been moved there."""
    if not solution.on_device(site.node) or site.node is None:
        return False
    if not solution.is_tensor(site.node) or site.in_worker or site.dropped:
        return False
    if site.perhaps and solution.reach.in_module(site.scope):
        return False  # a module's input of unknown form is no batch from a loader
    if site.of_argument and site.callers_unknown:
        return False  # nor is a part of what somebody hands in, who may have moved it
    if solution.place_of(single) is Place.FOLLOWS and not device_names(solution).central_for(
        single
    ):
        return False  # who calls this is not known, so neither is whether it is wrong
    if solution.given(site.node) is not None:
        return False  # the data set is there as a whole
    return not _moved_by_choice(solution, site)  # whether it moves is said where that is asked


def _moved_by_choice(solution: Solution, site: Drawn) -> bool:
    """Tell whether the program moves what the batch is bound to, behind a test about devices.

    Any test will do where that may be None: it asks whether it is there.
    """
    if site.bound is None:
        return False
    name, spot = site.bound.name, site.bound.spot
    absent = _may_be_absent(site, name)
    parents = solution.programs.parents(spot.path)
    home = spot.node if isinstance(spot.node, (ast.For, ast.AsyncFor)) else parents.get(spot.node)
    for node in ast.walk(home) if home is not None else ():
        match node:
            case ast.Assign(
                targets=[ast.Name(id=target)],
                value=ast.Call(func=ast.Attribute(value=ast.Name(id=moved), attr="cuda" | "to")),
            ) if target == moved == name:
                branch = parents.get(node)
                while branch is not None and branch is not home:
                    if isinstance(branch, ast.If) and (absent or tests_devices(branch.test)):
                        return True
                    branch = parents.get(branch)
    return False


def _may_be_absent(site: Drawn, name: str) -> bool:
    """Tell whether a name is None on another path, where a batch has no such part."""
    held = site.scope.lookup(name)
    return isinstance(held, Tensor) and held.doubt is Doubt.ABSENT


def _moves_as_one(
    solution: Solution, value: Value | None, used: Collection[Site] | None = None
) -> bool:
    """Tell whether all of a container can be moved: it holds tensors only, or moves itself.

    Of some members only their use says that they are tensors: of those whose sites are in `used`.
    """
    if not isinstance(value, (Seq, Dict)):
        return True
    for member in value.members():
        if not isinstance(member, Tensor):
            return False
        doubtful = member.collated or member.opaque or not solution.is_tensor(member.node)
        if used is not None and doubtful and member.site not in used:
            return False
    return True


def _names(solution: Solution, found: list[tuple[Bound, Group[Drawn]]]) -> Finding:
    names = list(dict.fromkeys(bound.name for bound, _ in found))
    spot, group = found[0][0].spot, found[0][1]
    device = _device(solution, group, spot)
    repair: Fix | None = None
    unfixed = NO_NAME
    if any(_asks_for_a_list(spot, name) for name in names):
        unfixed = "the code asks itself whether that is a list"
    elif device is not None:
        how = ", non_blocking=True" if group.first.pinned else ""
        there = [name for name in names if not _may_be_absent(found[0][1].first, name)]
        code = device.code
        free = device_names(solution).imports.is_free(spot.path, "device")
        lines = [f"device = {code}"] if len(names) > 1 and "(" in code and free else []
        code = "device" if lines else code  # it is asked for once
        moves = ", ".join(f"{name}.to({code}{how})" for name in there)
        lines += [f"{', '.join(there)} = {moves}"] if there else []
        lines += (
            f"if {name} is not None:\n    {name} = {name}.to({code}{how})"
            for name in names
            if name not in there
        )
        repair = fix(device, *_insert(solution, spot, "\n".join(lines)))
    whole = finding(
        solution, "batch-not-moved", _head(spot), _met(group, names),
        repair, origins=meeting(solution, group), unfixed=unfixed,
    )  # fmt: skip
    return _as_drawn(solution, whole, [single for _, single in found])


def _container(solution: Solution, found: list[tuple[Bound, Group[Drawn]]]) -> Iterator[Finding]:
    held, group = found[0]
    name, spot, value = held.name, held.spot, group.first.container
    if not _moves_as_one(solution, value, [single.first for _, single in found]):
        for _, single in found:
            if single.first.bound is not None:
                yield _names(solution, [(single.first.bound, single)])
            else:
                yield from _operands(solution, single)
        return
    device = _device(solution, group, spot)
    code = ""
    if device is not None:
        unknown = group.first.whole is not None
        if isinstance(value, Dict) or unknown and not _whole_batch.root(group.first).moves_itself:
            code = f"{name} = {{k: v.to({device.code}) for k, v in {name}.items()}}"
        elif isinstance(value, Seq):
            code = f"{name} = [t.to({device.code}) for t in {name}]"
        else:
            code = f"{name} = {name}.to({device.code})"
    repair = fix(device, *_insert(solution, spot, code)) if device is not None and code else None
    unfixed = NO_NAME
    if isinstance(value, (Seq, Dict)) and value.perhaps:
        repair, unfixed = None, f"`{name}` is something else on another path"
    if repair is not None and _asks_for_a_list(spot, name):
        repair, unfixed = None, f"the code asks itself whether `{name}` is a list"
    whole = finding(
        solution, "batch-not-moved", _head(spot),
        f"the tensors of `{name}` {_come(group)} and meet the device",
        repair, origins=meeting(solution, group), unfixed=unfixed,
    )  # fmt: skip
    yield _as_drawn(solution, whole, [single for _, single in found])


def _met(group: Group[Drawn], names: Collection[str]) -> str:
    """Return what is told of tensors under some names."""
    listed, one = " and ".join(f"`{name}`" for name in names), len(names) == 1
    return f"{listed} {_come(group, len(names))} and meet{'s' if one else ''} the device"


def _come(group: Group[Drawn], count: int = 2) -> str:
    """Return where tensors come from, as far as it is known."""
    if group.first.seen:
        return f"{'was' if count == 1 else 'were'} on the CPU when the program ran"
    return f"come{'s' if count == 1 else ''} from the loader on the CPU"


def _object(solution: Solution, found: list[Group[Drawn]]) -> Iterator[Finding]:
    """Report the attributes of an object that has no `.to`: they are moved once where it has its
    name, if they are used more often than a person would write moves."""
    owner = found[0].first.owner
    assert owner is not None
    device = None
    if _whole_batch.is_put_together(solution, found, owner):
        device = _device(solution, found[0], owner.spot)
    if device is None:
        for single in found:
            yield from _operands(solution, single)
        return
    names = [f"{owner.name}.{attr}" for attr in dict.fromkeys(s.first.attribute for s in found)]
    code = "\n".join(f"{name} = {name}.to({device.code})" for name in names)
    whole = finding(
        solution, "batch-not-moved", _head(owner.spot), _met(found[0], names),
        fix(device, *_insert(solution, owner.spot, code)), origins=meeting(solution, found[0]),
    )  # fmt: skip
    yield _as_drawn(solution, whole, found)


def _as_drawn(solution: Solution, found: Finding, groups: Iterable[Group[Drawn]]) -> Finding:
    """Return a finding whose edit is withheld unless a loader certainly gives what it moves."""
    sites = [site for group in groups for site in group.sites]
    if asks(solution, found) and any(site.perhaps or site.of_argument for site in sites):
        return doubted(found, NOT_ON_HOST)
    return shown(solution, found, (site.node for site in sites))


def _asks_for_a_list(spot: Location, name: str) -> bool:
    """Tell whether a loop asks what its batch is: it has no `.to`, then, or only sometimes."""
    for node in ast.walk(spot.node):
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=asked), kinds]):
                if asked == name and not {"list", "tuple"}.isdisjoint(_words(kinds)):
                    return True
    return False


def _words(node: ast.expr) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _operands(solution: Solution, group: Group[Drawn]) -> Iterator[Finding]:
    """A member that never gets a name is moved where it is handed on, or enters the operation."""
    assert group.first.node is not None
    entries = solution.entries(group.first.node)
    several = _handed_on(solution, group.first) if len(entries) > 1 else []
    yield from _at(solution, group, several or entries)


def _at(solution: Solution, group: Group[Drawn], spots: Iterable[Location]) -> Iterator[Finding]:
    """A member is moved at these expressions."""
    spots = list(spots)
    for spot in spots:
        device = _device(solution, group, spot)
        repair, unfixed = None, NO_NAME
        others = _other_reads(solution, spot, [each.node for each in spots])
        if device is not None and others is not None:
            repair, unfixed = _where_drawn(solution, others, device), IN_PARTS
        elif device is not None:
            move = edit(solution, spot, "method", code=f".to({device.code})")
            if _whole_batch.is_mapping(solution, spot):
                code = solution.code(spot)
                moved = f"{{k: v.to({device.code}) for k, v in {code}.items()}}"
                move = edit(solution, spot, "replace", code=moved)
            repair = fix(device, move)
        found = finding(
            solution, "batch-not-moved", spot,
            f"`{solution.code(spot)}` {_come(group, 1)} and meets the device",
            repair, origins=meeting(solution, group), unfixed=unfixed,
        )  # fmt: skip
        yield _as_drawn(solution, found, [group])


def _other_reads(
    solution: Solution, spot: Location, moved: Collection[ast.AST]
) -> tuple[Location, ast.comprehension | None] | None:
    """Return the statement, or the loop of an expression, that reads a name elsewhere, too.

    To move it at one place there would leave the others what they are.
    """
    if not isinstance(spot.node, ast.Name):
        return None
    parents = solution.programs.parents(spot.path)
    node, loop = parents.get(spot.node), None
    while node is not None and not isinstance(node, ast.stmt) and loop is None:
        for each in getattr(node, "generators", ()):
            if isinstance(each.target, ast.Name) and each.target.id == spot.node.id:
                loop = each
        node = parents.get(node) if loop is None else node
    for other in ast.walk(node) if node is not None else ():
        if isinstance(other, ast.Name) and other.id == spot.node.id and other not in moved:
            if isinstance(other.ctx, ast.Load):
                return spot, loop
    return None


def _where_drawn(
    solution: Solution, read: tuple[Location, ast.comprehension | None], device: DeviceExpression
) -> Fix | None:
    """Return the fix that moves what the loop of an expression draws, before any of it is read."""
    spot, loop = read
    if loop is None or not isinstance(loop.target, ast.Name):
        return None
    name, drawn = loop.target.id, Location(spot.path, loop.iter)
    code = f"({name}.to({device.code}) for {name} in {solution.code(drawn)})"
    return fix(device, edit(solution, drawn, "replace", code=code))


def _handed_on(solution: Solution, site: Drawn) -> list[Location]:
    """Return where a loop passes on a member of its batch, by its constant key."""
    value = site.container
    if not isinstance(value, Dict) or site.held is None:
        return []
    name, spot = site.held.name, site.held.spot
    keys = [key for key, member in value.items.items() if getattr(member, "site", None) is site]
    parents = solution.programs.parents(spot.path)
    return [
        Location(spot.path, node)
        for node in ast.walk(spot.node)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
        and isinstance(node.slice, ast.Constant)
        and node.slice.value in keys
        and isinstance(node.ctx, ast.Load)
        and not isinstance(parents.get(node), ast.Attribute)
    ]


def _device(solution: Solution, group: SiteGroup, spot: Location) -> DeviceExpression | None:
    """Return the device for a move at a place; a module's methods move no batches."""
    scope = solution.scope_at(spot)
    if scope is None or scope.node is group.first.scope.node:
        return device_names(solution).central_for(group)
    if solution.reach.in_module(scope) and not solution.reach.in_module(group.first.scope):
        return None
    there = solution.reach.site_at(spot)  # in another function, which has names of its own
    if there is None:
        return None
    name = device_names(solution).central_for(Group(spot, [there]))
    return name if name is not None and not name.edits else None  # it follows its input


def _insert(solution: Solution, spot: Location, code: str) -> list[Edit]:
    """Return the edits that put a statement behind what binds a batch.

    Where it stands further down, too late, it comes up from there.
    """
    inside = isinstance(spot.node, (ast.For, ast.AsyncFor, ast.With))
    verb: Verb = "head" if inside else "after"
    edits = [edit(solution, spot, verb, code=code)]
    parents = solution.programs.parents(spot.path)
    for later in () if inside else parents.behind(spot.node):
        if solution.code(Location(spot.path, later)) == code:
            edits.append(edit(solution, Location(spot.path, later), "delete"))
            break
    return edits


def _head(spot: Location) -> Location:
    """Point at a loop's target rather than at the whole loop."""
    if isinstance(spot.node, (ast.For, ast.AsyncFor)):
        return Location(spot.path, spot.node.target)
    return spot
