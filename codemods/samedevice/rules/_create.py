"""Creations without a device: shared by the rules about drivers, modules and boundaries."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import Edit, Finding, Fix, Import, Resolver
from samedevice.inference.events import Creation, Dropped, Move, Shared, is_bare
from samedevice.inference.nodes import Location, Place
from samedevice.inference.objects import Instance
from samedevice.inference.sites import Group, SiteGroup
from samedevice.inference.solution import Solution
from samedevice.inference.values import Const, Scalar, Unknown
from samedevice.reading import syntax
from samedevice.repair import device_names
from samedevice.repair.at_hand import is_chain
from samedevice.rules._build import (
    NO_NAME,
    edit,
    finding,
    fix,
    meeting,
    short,
    written_in_place,
)
from samedevice.rules._none_device import goes_nowhere
from samedevice.rules._read_here import brought_back
from samedevice.rules._shown import NUMBER, asks, doubted, shown

_OF_DATA = frozenset(("torch.tensor", "torch.as_tensor"))
TESTED = "tests that run on the CPU call this function, too"
#: What gives a number a dimension, or has to have one.
_WITH_DIMENSIONS = frozenset(("expand", "repeat", "reshape", "unfold", "unsqueeze", "view"))


def _calls_of_some(solution: Solution, group: SiteGroup) -> list[Location]:
    """Return the calls that want a helper's result on the device, if others want it on the host."""
    if all(solution.place(site.node) is not Place.HOST for site in group.sites):
        return []
    if solution.reach.follow(group) is not None:
        return []
    calls = {
        site.scope.call.node: site.scope.call
        for site in group.sites
        if site.scope.call is not None
        and isinstance(site.scope.call.node, ast.Call)
        and solution.on_device(site.node)
    }
    return list(calls.values())


def _at_calls(
    solution: Solution, rule: str, group: SiteGroup, calls: list[Location], message: str
) -> Finding:
    """A helper serves both places: its callers move what they get, where they do not do so yet."""
    calls = [call for call in calls if not _is_moved(solution, call)] or calls
    names = [device_names(solution).name_at(call) for call in calls]
    repair: Fix | None = None
    if all(name is not None for name in names):
        edits: list[Edit] = []
        resolvers: list[Resolver] = []
        imports: list[Import] = []
        for call, name in zip(calls, names, strict=True):
            assert name is not None
            end = solution.chain_end(call)
            edits.append(edit(solution, end, "method", code=f".to({name.code})"))
            resolvers += name.resolvers
            imports += name.imports
        repair = Fix(tuple(edits), imports=tuple(imports), resolvers=tuple(resolvers))
    found = finding(
        solution, rule, calls[0], message.format(short(solution.code(calls[0]))), repair,
        origins=meeting(solution, group), unfixed=NO_NAME,
    )  # fmt: skip
    return shown(solution, found, (site.node for site in group.sites))


def _is_moved(solution: Solution, call: Location) -> bool:
    """Tell whether what a call gives is moved at once: `f(x).to(device)`."""
    parents = solution.programs.parents(call.path)
    method = parents.get(call.node)
    moving = parents.get(method) if isinstance(method, ast.Attribute) else None
    return isinstance(moving, ast.Call) and any(solution.groups_at(Move, moving))


def perhaps_number(solution: Solution, site: Creation) -> bool:
    """Tell whether a tensor is made of data that may be one number, and stays one."""
    data = site.args[0][0] if site.args else None
    if site.name not in _OF_DATA or not isinstance(data, (Scalar, Unknown)):
        return False
    parents = solution.programs.parents(site.spot.path)
    node: ast.AST | None = site.spot.node
    while isinstance(method := parents.get(node) if node is not None else None, ast.Attribute):
        if method.attr in _WITH_DIMENSIONS:
            return False
        node = parents.get(method)  # its call
    return not solution.enters_module(site.node)


def _drawn_by_unknown(site: Creation) -> bool:
    """Tell whether a generator draws the tensor, and nothing shows where that is."""
    given = site.kwargs.get("generator")
    if given is None or isinstance(given[0], Const) and given[0].value is None:
        return False
    return not (isinstance(given[0], Instance) and given[0].family == "generator")


def unplaced(solution: Solution, event: type[Creation]) -> Iterator[tuple[Group[Creation], bool]]:
    """Yield creations that must be on the device and do not say so, and whether they follow."""
    for group in solution.groups(event):
        scope = group.first.scope
        built = solution.reach.in_module(scope) and solution.reach.builds(scope)
        if any(
            (built or is_bare(site)) and not solution.policy.stays_behind(site)
            for site in group.sites
        ):
            continue  # what a constructor creates is mostly the business of other rules
        # `torch.set_default_device` puts some where they belong.
        left = [site for site in group.sites if event is Shared or not site.by_default]
        if not any(solution.on_device(site.node) for site in left):
            continue
        if any(s.dropped or "device" in s.kwargs for s in group.sites):
            continue  # rules of their own
        if _is_brought(solution, group.spot) or _is_moved_on(solution, group):
            continue
        if _is_moved_behind(solution, group.spot):
            continue
        if _stands_in(solution, group.spot) or goes_nowhere(solution, group.spot):
            continue
        inside = (
            solution.reach.in_module(group.first.scope) or solution.reach.follow(group) is not None
        )
        if solution.place_of(group) is Place.FOLLOWS and not _can_follow(solution, group):
            continue  # who calls this is not known, so neither is whether it is wrong
        yield group, inside


def _stands_in(solution: Solution, spot: Location) -> bool:
    """Tell whether a tensor stands in for an entry that goes to the CPU at once.

    `found.get("boxes", torch.zeros(0, 4)).detach().cpu()`
    """
    parents = solution.programs.parents(spot.path)
    outer = parents.get(spot.node)
    if not (isinstance(outer, ast.Call) and spot.node in outer.args[1:]):
        return False
    if not (isinstance(outer.func, ast.Attribute) and outer.func.attr in ("get", "pop")):
        return False
    while isinstance(outer, ast.Call) and isinstance(method := parents.get(outer), ast.Attribute):
        if method.attr == "cpu":
            return True
        outer = parents.get(method)
    return False


def _is_brought(solution: Solution, spot: Location) -> bool:
    """Tell whether the program itself brings an attribute that holds what is made here to where
    it is used: `self.times = self.times.to(x.device)`. It needs no device before."""
    match solution.statement_of(spot):
        case ast.Assign(targets=[ast.Attribute(attr=attr)]) as made:
            pass
        case _:
            return False
    return any(
        statement is not made
        for path in solution.programs.of(spot.path)
        for statement in _bringing(solution.programs.tree(path)).get(attr, ())
    )


def _is_moved_on(solution: Solution, group: Group[Creation]) -> bool:
    """Tell whether what is made is moved at once (`torch.ones(n).to(x)`): it is said already."""
    parents = solution.programs.parents(group.spot.path)
    attribute = parents.get(group.spot.node)
    call = parents.get(attribute) if isinstance(attribute, ast.Attribute) else None
    match call:
        case ast.Call(func=ast.Attribute(attr="to"), args=[ast.Name() | ast.Attribute() as where]):
            if call.func is attribute:
                said = ast.unparse(where)
                return "type" not in said and not said.startswith("torch.")
    return False


def _is_moved_behind(solution: Solution, spot: Location) -> bool:
    """Tell whether the first thing done with what is made is a move whose result is dropped.

    `x = torch.arange(n).unsqueeze(0)`, `x.to(device)`: that is kept, by a rule of its own.
    """
    statement = solution.statement_of(spot)
    match statement:
        case ast.Assign(targets=[ast.Name(id=made)], value=value) if is_chain(value, spot.node):
            pass
        case _:
            return False
    for later in solution.programs.parents(spot.path).follows(statement):
        if any(isinstance(node, ast.Name) and node.id == made for node in syntax.walk(later)):
            return any(
                not site.leaf
                for group in solution.groups_at(Dropped, later)
                for site in group.sites
            )
    return False


@syntax.per_node
def _bringing(tree: ast.AST) -> dict[str, list[ast.stmt]]:
    """Return the statements of a file that move what an attribute holds, and keep it there, by
    the attribute's name.

    So does one that makes an entry anew where a test of an entry says so: `self.grid[i] = ...`.
    """
    found: dict[str, list[ast.stmt]] = {}
    for statement in syntax.statements(tree):
        match statement:
            case ast.Assign(
                targets=[ast.Attribute(attr=attr) as target],
                value=ast.Call(
                    func=ast.Attribute(
                        value=ast.Attribute() as held, attr="to" | "cuda" | "type_as"
                    )
                ),
            ) if ast.unparse(target) == ast.unparse(held):
                found.setdefault(attr, []).append(statement)
            case ast.If(test=test, body=body):
                for each in body:
                    made = _entries(each)
                    if made & _entries(ast.Expr(test)):
                        for attr in made:
                            found.setdefault(attr, []).append(each)
    return found


def _entries(statement: ast.stmt) -> set[str]:
    """Return the attributes whose entries a statement sets, or a test reads."""
    parts = statement.targets if isinstance(statement, ast.Assign) else [statement]
    return {
        part.value.attr
        for part in syntax.walk_all(list(parts))
        if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Attribute)
        if isinstance(part.value.value, ast.Name)
    }


def _can_follow(solution: Solution, group: SiteGroup) -> bool:
    """Tell whether code can name a device for what has to be where some caller's value is.

    The program's own device is another one, perhaps.
    """
    name = device_names(solution).device_for(group)
    return name is not None and not (name.resolvers or name.imports)


def _serves_both(solution: Solution, group: SiteGroup) -> bool:
    """Tell whether a helper makes it for callers of this program and for those who hand theirs in.

    The program's device is the wrong one for these, and nothing here says which one is right.
    """
    places = {solution.place(site.node) for site in group.sites}
    return {Place.CENTRAL, Place.FOLLOWS} <= places and solution.reach.follow(group) is None


def _where_read(solution: Solution, group: SiteGroup) -> Fix | None:
    """Return the fix that moves an attribute where it is read, as nothing can move it before."""
    match solution.statement_of(group.spot):
        case ast.Assign(targets=[ast.Attribute(attr=attr) | ast.Name(id=attr)], value=value):
            pass
        case _:
            return None
    if value is not group.spot.node:
        return None
    spots: dict[ast.AST, Location] = {}
    converted = group.spot.path in solution.policy.for_the_cpu
    for site in group.sites:
        if site.node is not None and solution.on_device(site.node):
            if not (converted or solution.meets_certain(site.node)):
                return None  # to move this alone would be half a repair
            spots |= {spot.node: spot for spot in solution.reads(site.node, attr)}
    edits: list[Edit] = []
    for spot in spots.values():
        name = device_names(solution).name_at(spot)
        if name is None or name.resolvers or name.imports or name.edits:
            return None
        if written_in_place(solution, spot):
            return None
        edits.append(edit(solution, spot, "method", code=f".to({name.code})"))
    return Fix(tuple(edits)) if edits else None


def _where_used(solution: Solution, group: SiteGroup) -> Fix | None:
    """Return the fix that moves what a helper makes where it enters what is on the device.

    Tests for the CPU call the helper, too.
    """
    edits: dict[ast.AST, Edit] = {}
    for site in group.sites:
        if site.node is None or not solution.on_device(site.node):
            continue
        for spot in solution.entries(site.node):
            name = device_names(solution).name_at(spot)
            if name is None or name.resolvers or name.imports or name.edits:
                return None
            if written_in_place(solution, spot):
                return None
            edits[spot.node] = edit(solution, spot, "method", code=f".to({name.code})")
    return Fix(tuple(edits.values())) if edits else None


def placed(
    solution: Solution, rule: str, group: Group[Creation], message: str, refused: str = ""
) -> Finding:
    """Return the finding for a creation, with the fix that puts it on the device.

    There is none where it is `refused` for a reason.
    """
    if refused:
        return finding(
            solution, rule, group.spot, message.format(short(solution.code(group.spot))), None,
            origins=meeting(solution, group), unfixed=refused,
        )  # fmt: skip
    calls = _calls_of_some(solution, group)
    if calls:
        return _at_calls(solution, rule, group, calls, message)
    name, unfixed = device_names(solution).device_for(group), NO_NAME
    repair: Fix | None = None
    if _serves_both(solution, group):
        name = None
    if any(map(_drawn_by_unknown, group.sites)):
        name, unfixed = None, "its generator has to be there, too, and could not be followed"
    if name is not None:
        back = brought_back(solution, group)
        repair = fix(name, device_names(solution).creation_edit(group, name), *back)
    elif solution.returned(group):
        by_node = {s.scope.call.node: s.scope.call for s in group.sites if s.scope.call}
        moved = _at_calls(solution, rule, group, list(by_node.values()), message)
        if moved.fix is not None:
            return moved
    else:
        repair = _where_read(solution, group)
        if repair is None and solution.reach.is_tested(group.first.scope):
            repair, unfixed = _where_used(solution, group), TESTED
    found = finding(
        solution, rule, group.spot, message.format(short(solution.code(group.spot))), repair,
        origins=meeting(solution, group), unfixed=unfixed,
    )  # fmt: skip
    if asks(solution, found) and any(perhaps_number(solution, site) for site in group.sites):
        return doubted(found, NUMBER)
    return shown(solution, found, (site.node for site in group.sites))
