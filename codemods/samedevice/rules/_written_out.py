"""Names of devices that are written out, and the repair of each where it stands."""

from __future__ import annotations

import ast
import functools
from dataclasses import replace

from samedevice.finding import DeviceExpression, Finding, Fix
from samedevice.inference import Solution
from samedevice.inference.events import Literal, ModuleMoved
from samedevice.inference.nodes import Location
from samedevice.inference.sites import SiteGroup
from samedevice.reading import syntax
from samedevice.repair import device_names
from samedevice.rules import _choice, _default, _handed
from samedevice.rules._build import NO_NAME, edit, finding, fix, short

RULE = "hard-coded-device"
_COUNTED = "a loop counts the GPUs, and gives each its share on purpose"


def chosen_cpu(solution: Solution, group: SiteGroup) -> Finding:
    """The program's one device is the CPU, written out: the resolver takes its place."""
    parent = solution.programs.parents(group.spot.path).get(group.spot.node)
    repair = _choice.choice(solution, group.spot)
    return finding(
        solution, RULE, group.spot,
        f"{short(solution.code(group.spot))} is the program's only device; an accelerator would "
        "never be used",
        repair if parent is not None else None,
    )  # fmt: skip


def _once_chosen(solution: Solution, spot: Location, repair: Fix | None) -> tuple[Fix | None, str]:
    """Return the fix of an assignment, or why there is none, where it is said below which GPUs
    there are: who asks for them first sees all, and what is set afterwards counts no more.

    The assignment goes below, where nothing between the two uses it.
    """
    statement = solution.statement_of(spot)
    if repair is None or statement is None:
        return repair, NO_NAME
    behind = list(solution.programs.parents(spot.path).follows(statement))
    hides = functools.partial(solution.programs.hides_some, spot.path)
    at = next((n for n, each in enumerate(behind) if hides(each)), None)
    if at is None:
        return repair, NO_NAME
    between = [node for each in behind[: at + 1] for node in syntax.walk(each)]
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is spot.node:
            if not any(isinstance(node, ast.Name) and node.id == name for node in between):
                (chosen,) = repair.edits
                code = f"{name} = {chosen.get('code').format(solution.code(spot))}"
                below = edit(solution, Location(spot.path, behind[at]), "after", code=code)
                gone = edit(solution, Location(spot.path, statement), "delete")
                return replace(repair, edits=(gone, below)), NO_NAME
    return None, "what CUDA reads of the environment is set below, and would count no more"


def _makes_device(solution: Solution, call: ast.Call) -> bool:
    """Tell whether a call is `torch.device(...)` of one argument."""
    index = call.args[1:]
    return (not index or isinstance(index[0], ast.Constant)) and _ends_on_device(call)


def _ends_on_device(call: ast.Call) -> bool:
    return syntax.dotted(call.func).rpartition(".")[2] == "device"


def literal(solution: Solution, group: SiteGroup) -> Finding:
    """Replace a device's name: by the resolver's expression where it is the definition."""
    spot, unfixed = group.spot, NO_NAME
    repair: Fix | None = None
    if isinstance(solution.programs.parents(spot.path).get(spot.node), ast.arguments):
        repair, unfixed = _default.without(solution, spot, _choice.choice(solution, spot))
    elif solution.is_stored(spot.node):
        call = solution.programs.parents(spot.path).get(spot.node)
        followed = solution.reach.follow(group)
        again = _said_again(solution, group)
        if again is not None:
            repair = fix(again, edit(solution, spot, "replace", code=again.code))
        elif followed is not None and isinstance(call, ast.Call) and _makes_device(solution, call):
            # A helper's own device is that of its input.
            place = Location(spot.path, call)
            repair = fix(
                DeviceExpression(followed), edit(solution, place, "replace", code=followed)
            )
        else:
            place = spot
            if isinstance(call, ast.Call) and call.args[1:] and _ends_on_device(call):
                place = Location(spot.path, call)  # torch.device("cuda", 0)
            repair, unfixed = _once_chosen(solution, spot, _choice.choice(solution, place))
    else:
        parents = solution.programs.parents(spot.path)
        parent = parents.get(spot.node)
        if isinstance(parent, ast.Call) and _makes_device(solution, parent):
            spot = Location(spot.path, parent)
        name = _name(solution, spot)
        if _handed.is_counted(solution, group.spot):
            unfixed = "the program counts with this number, too"
        elif name is not None and _is_of_receiver(solution, spot, name):
            unfixed = "it would move to where it is"
        elif _is_picked(solution, group.spot):
            repair = _choice.choice(solution, group.spot)
        elif _is_beside_cpu(parent, group.spot.node):
            unfixed = "the program compares devices here"
        elif name is not None and _stands_in_for(solution, spot, name):
            unfixed = f"it stands in for `{name.code}`, where that is left out"
        elif name is not None and (
            _is_another(solution, group, name)
            or _handed.sets_it(solution, spot, name)
            or bool(name.resolvers)
            and _is_fallback(parent, group.spot.node)
        ):
            repair = _choice.choice(solution, group.spot)
        elif name is not None:
            code = _handed.as_argument(solution, spot, name)
            repair = fix(name, edit(solution, spot, "replace", code=code))
    return finding(
        solution, RULE, spot,
        f"{short(solution.code(spot))} names one vendor's device: the program cannot run without "
        "it",
        repair, unfixed=unfixed,
    )  # fmt: skip


def _is_fallback(call: ast.AST | None, node: ast.AST) -> bool:
    """Tell whether a device is what settings say where they name none: `settings.get("device",
    "cuda")`. The choice is made there, then, and no other name is defined for it."""
    match call:
        case ast.Call(
            func=ast.Attribute(attr="get" | "pop"), args=[ast.Constant(value=str()), given]
        ):
            return given is node
    return False


def _is_another(solution: Solution, group: SiteGroup, name: DeviceExpression) -> bool:
    """Tell whether a name is not the one for the GPU that is written out at a place.

    Where the file has a name for that one further down, a second name would be one too many.
    """
    text, path = group.first.name, group.spot.path
    number = text.partition(":")[2]
    if name.resolvers:
        below = any(
            solution.is_stored(other.spot.node) and not _is_for_calls(solution, other.spot)
            for other in solution.groups(Literal)
            if other.first.name == text and other.spot.path == path
        )
        return below or number > "0" and any(each.gpu != number for each in name.resolvers)
    if number <= "0":
        return False
    site = solution.reach.site_at(group.spot)
    held = {code: value for code, value, _ in site.devices}.get(name.code) if site else None
    spot = getattr(held, "spot", None)
    if spot is None:
        return False  # what it follows
    said = [each.value for each in ast.walk(spot.node) if isinstance(each, ast.Constant)]
    return text not in said


def _is_for_calls(solution: Solution, spot: Location) -> bool:
    """Tell whether a device is an entry of a table that is only ever spread over the arguments of
    calls: `f(x, **where)`."""
    parents = solution.programs.parents(spot.path)
    around = parents.get(spot.node)
    around = parents.get(around) if isinstance(around, ast.keyword) else around
    match solution.statement_of(spot):
        case ast.Assign(targets=[ast.Name(id=table)], value=value) if value is around:
            pass
        case _:
            return False
    match value:
        case ast.Dict() | ast.Call(func=ast.Name(id="dict")):
            pass
        case _:
            return False
    uses = [
        parents.get(node)
        for node in syntax.walk(solution.programs.tree(spot.path))
        if isinstance(node, ast.Name) and node.id == table and isinstance(node.ctx, ast.Load)
    ]
    return bool(uses) and all(isinstance(u, ast.keyword) and u.arg is None for u in uses)


def _said_again(solution: Solution, group: SiteGroup) -> DeviceExpression | None:
    """Return the file's name for a device that is an entry of a table, where other code of the
    file writes the same device out: each would make the same choice once more.

    Calls get what is in the table, and nothing else does: a text may be written to a file.
    """
    if not _is_for_calls(solution, group.spot):
        return None
    again = [
        other
        for other in solution.groups(Literal)
        if other.first.name == group.first.name
        and other.spot.path == group.spot.path
        and other.spot.node is not group.spot.node
    ]
    name = _name(solution, group.spot) if again else None
    if name is None or name.edits or name.imports or _is_another(solution, group, name):
        return None
    return name


def _is_picked(solution: Solution, spot: Location) -> bool:
    """Tell whether a name is one of a table in place, of which one is taken at once.

    `["cpu", "cuda"][use_gpu]`, `{"fast": "cuda"}[mode]`
    """
    parents = solution.programs.parents(spot.path)
    table = parents.get(spot.node)
    outer = parents.get(table) if isinstance(table, (ast.List, ast.Tuple, ast.Dict)) else None
    if isinstance(table, ast.Dict) and spot.node not in table.values:
        return False
    return isinstance(outer, ast.Subscript) and outer.value is table


def _name(solution: Solution, spot: Location) -> DeviceExpression | None:
    """Return the name for a device that is written out; `x` in `x.to(...)` cannot say where."""
    call = solution.programs.parents(spot.path).get(spot.node)
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        if call.func.attr == "to" and spot.node in call.args:
            itself = any(map(solution.moves_itself, solution.groups_at(ModuleMoved, call)))
            return device_names(solution).name_at(Location(spot.path, call), itself=itself)
    return device_names(solution).name_at(spot)


def _is_of_receiver(solution: Solution, spot: Location, name: DeviceExpression) -> bool:
    """Tell whether a move to this device is one to where the object is that moves."""
    match solution.programs.parents(spot.path).get(spot.node):
        case ast.Call(func=ast.Attribute(value=receiver, attr="to"), args=[first, *_]):
            whose = ast.unparse(receiver)
            own = (f"{whose}.device", f"next({whose}.parameters()).device")
            return first is spot.node and name.code in (*own, f"next({whose}.buffers()).device")
    return False


def _is_beside_cpu(around: ast.AST | None, device: ast.AST) -> bool:
    """Tell whether a device is a member of a list that has the CPU, too: each has its turn."""
    return isinstance(around, (ast.List, ast.Tuple, ast.Set)) and any(
        isinstance(each, ast.Constant) and each.value == "cpu"
        for each in around.elts
        if each is not device
    )


def _stands_in_for(solution: Solution, spot: Location, name: DeviceExpression) -> bool:
    """Tell whether a device is what is meant where a name has none: `device or "cuda"`."""
    asked: list[ast.expr] = []
    match solution.programs.parents(spot.path).get(spot.node):
        case ast.BoolOp(values=values):
            asked = [each for each in values if each is not spot.node]
        case ast.IfExp(test=test):
            asked = [test]
    root = name.code.partition(".")[0]
    return any(
        isinstance(node, ast.Name) and node.id == root
        for each in asked
        for node in syntax.walk(each)
    )


def indexed(solution: Solution, group: SiteGroup) -> Finding:
    """`device = f"cuda:{gpu}"`: that GPU, where there is one."""
    spot = group.spot
    parent = solution.programs.parents(spot.path).get(spot.node)
    stored = solution.is_stored(spot.node)
    index = solution.index_in(spot.node)
    repair, unfixed = _choice.choice(solution, spot), NO_NAME
    if index is not None and solution.is_counted(spot.path, index):
        repair, unfixed = None, _COUNTED
    elif (
        not stored
        and index is not None
        and solution.policy.decided_by(spot.path, ast.unparse(index))
    ):
        call = parent if isinstance(parent, ast.Call) and _makes_device(solution, parent) else None
        place = Location(spot.path, call or spot.node)
        name = device_names(solution).name_at(place)
        repair = fix(name, edit(solution, place, "replace", code=name.code)) if name else None
    elif not stored and not isinstance(parent, (ast.Call, ast.keyword)):
        repair = None
    found = finding(
        solution, RULE, group.spot,
        f"{short(solution.code(group.spot))} names one vendor's device: the program cannot run "
        "without it",
        repair, unfixed=unfixed,
    )  # fmt: skip
    return replace(found, level="note") if unfixed == _COUNTED else found
