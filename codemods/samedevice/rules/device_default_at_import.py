"""A parameter's default chooses the device when the file is imported.

Why: a default is evaluated once, before the program has read its options, set a rank or forked. It
knows nothing of the device that the program chooses later, and a caller that forgets the argument
gets another device than everything else.

Example:

    def noise(rows, device="cuda" if torch.cuda.is_available() else "cpu"):
        return torch.randn(rows, 4, device=device)

    y = model(noise(3))

becomes

    def noise(rows, device=None):
        return torch.randn(rows, 4, device=device)

    y = model(noise(3, device=args.device))

Fix safety: safe. Every call in the project now passes the device; on a CPU-only machine both are
the CPU.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import Edit, Finding, Fix, Import, Resolver
from samedevice.inference import Solution
from samedevice.inference.events import DefaultMade
from samedevice.inference.sites import Group
from samedevice.repair import device_names
from samedevice.rules._build import NO_NAME, edit, finding


def find(solution: Solution) -> Iterator[Finding]:
    """Report devices that are chosen in the head of a function."""
    for group in solution.groups(DefaultMade):
        repair, why = _repair(solution, group)
        yield finding(
            solution, "device-default-at-import", group.spot,
            f"the device of `{group.first.name}` is chosen when the file is imported, whatever the "
            "program decides later",
            repair, unfixed=why,
        )  # fmt: skip


def _repair(solution: Solution, group: Group[DefaultMade]) -> tuple[Fix | None, str]:
    function = group.first.scope.func
    if function is None or not _only_passed_on(function.node, group.first.name):
        return None, "the function does more with the argument than pass it on"
    edits: list[Edit] = [edit(solution, group.spot, "replace", code="None")]
    imports: list[Import] = []
    resolvers: list[Resolver] = []
    for site in group.sites:
        call = site.call
        if call is None or not isinstance(call.node, ast.Call):
            return None, "the callers of the function are not known"
        name = device_names(solution).name_at(call)
        if name is None:
            return None, NO_NAME
        imports += name.imports
        resolvers += name.resolvers
        edits.append(edit(solution, call, "keyword", name=group.first.name, value=name.code))
    unique = tuple(dict.fromkeys(edits))
    return Fix(unique, imports=tuple(imports), resolvers=tuple(resolvers)), ""


def _only_passed_on(function: ast.AST, name: str) -> bool:
    """Tell whether a parameter is used only as `device=name`, where None is allowed."""
    passed = {
        id(keyword.value)
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "device"
    }
    return all(
        id(node) in passed
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id == name
    )
