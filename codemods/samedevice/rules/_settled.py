"""Choices that constants decide: whether there is an accelerator is asked, too."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import Finding, Fix
from samedevice.inference import Solution
from samedevice.inference.events import Indexed, Literal, Settled
from samedevice.inference.nodes import Location
from samedevice.inference.sites import Group, SiteGroup
from samedevice.reading import syntax
from samedevice.repair import device_names
from samedevice.rules import _choice
from samedevice.rules._build import edit, finding, short

RULE = "hard-coded-device"


def switched_on(solution: Solution, group: SiteGroup) -> Iterator[Finding]:
    """`"cuda" if flag else "cpu"`, where the file sets the flag to True and to nothing else.

    Who changes the file chooses; that there is a GPU the flag does not say.
    """
    spot = group.spot
    node = spot.node.args[0] if isinstance(spot.node, ast.Call) and spot.node.args else spot.node
    match node:
        case ast.IfExp(test=ast.Name(id=name) as flag, body=ast.Constant(value=str(text)) as body):
            vendor = text.partition(":")[0]
        case _:
            return
    tree = solution.programs.tree(spot.path)
    bound = [n for n in syntax.walk(tree) if isinstance(n, ast.Name) and n.id == name]
    bound = [n for n in bound if isinstance(n.ctx, ast.Store)]
    if vendor not in _choice.AVAILABLE or not any(
        isinstance(statement, ast.Assign)
        and statement.targets == bound
        and isinstance(statement.value, ast.Constant)
        and statement.value.value is True
        for statement in syntax.certain(tree.body)
    ):
        return
    torch, imports = device_names(solution).imports.torch(spot.path)
    place = Location(spot.path, flag)
    code = f"{name} and {torch}.{_choice.AVAILABLE[vendor]}.is_available()"
    repair = Fix((edit(solution, place, "replace", code=code),), imports=imports) if torch else None
    yield finding(
        solution, RULE, Location(spot.path, body),
        f"{text!r} is chosen on every machine: `{name}` is always true", repair,
    )  # fmt: skip


def settled(solution: Solution, group: Group[Settled]) -> Iterator[Finding]:
    """`"cuda" if ngpu > 0 else "cpu"`, where constants decide: whether there is CUDA is asked, too.

    The test keeps what it says, for who changes the constant.
    """
    node = group.spot.node
    if not any(site.taken for site in group.sites):
        return  # what no call asks for; a call that declines it keeps what it says
    if all(site.under_device_test for site in group.sites) or leaves_without(solution, group.spot):
        return
    if isinstance(node, ast.IfExp) and not _is_used(solution, node):
        return
    torch, imports = device_names(solution).imports.torch(group.spot.path)
    held = group.first.positive
    test = group.first.test
    place = Location(group.spot.path, test)
    code = solution.code(place)
    joined = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) != held
    if joined or "{" in code or isinstance(test, (ast.IfExp, ast.Lambda, ast.NamedExpr)):
        code = "{}"  # in brackets
    code += f" {'and' if held else 'or not'} {torch}.cuda.is_available()"
    whole = edit(solution, place, "replace", code=code)
    said = short(solution.code(place))
    message = f"CUDA is used on every machine: `{said}` is always {'true' if held else 'false'}"
    if group.first.system:
        message = f"`{said}` asks for the system: that there is CUDA it does not say"
    yield finding(
        solution, RULE, place, message,
        Fix((whole,), imports=imports, erasure="cuda-only-api") if torch else None,
    )  # fmt: skip


def leaves_without(solution: Solution, spot: Location) -> bool:
    """Tell whether a program needs the arm of a test that names CUDA.

    It ends in the other one, or uses a name that only this one gives.
    """
    node = spot.node
    if not isinstance(node, ast.If):
        return False
    if any(isinstance(part, ast.Raise) for part in syntax.walk_all(node.orelse)):
        return True
    home = solution.programs.function_of(spot) or solution.programs.tree(spot.path)
    inside = set(syntax.walk(node))
    names = [n for n in syntax.walk(home) if isinstance(n, ast.Name) and n not in inside]
    given = {n.id for n in names if isinstance(n.ctx, ast.Store) and n.lineno < node.lineno}
    given |= {arg.arg for arg in ast.walk(home) if isinstance(arg, ast.arg)}
    read = {n.id for n in names if isinstance(n.ctx, ast.Load)}
    arms = [
        {n.id for n in syntax.walk_all(arm) if isinstance(n, ast.Name) and n.id in read
         and isinstance(n.ctx, ast.Store)}
        for arm in (node.body, node.orelse)
    ]  # fmt: skip
    return not arms[0] ^ arms[1] <= given


def _is_used(solution: Solution, node: ast.IfExp) -> bool:
    """Tell whether one of two texts is used as a device, or a device is made of it."""
    return (
        solution.is_meant(node)
        or any(isinstance(arm, ast.Call) for arm in (node.body, node.orelse))
        or any(
            solution.groups_at(event, arm)
            for arm in (node.body, node.orelse)
            for event in (Literal, Indexed)
        )
    )
