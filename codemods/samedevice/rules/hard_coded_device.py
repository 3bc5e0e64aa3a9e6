"""Code names an accelerator by hand: `.cuda()`, `"cuda"`, `device="cuda:0"`.

Why: such a program stops on every machine without CUDA, and a hard-coded device inside a layer
breaks replicas and second GPUs. Inside modules the value follows its input; elsewhere it follows
the one resolver.

Example:

    model = Net().cuda()
    x = torch.zeros(8, 3, device="cuda")

becomes

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    model = Net().to(device)
    x = torch.zeros(8, 3, device=device)

Fix safety: safe. On a CPU-only machine the program could not run before.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from samedevice.finding import Finding, Fix
from samedevice.places import Solution
from samedevice.places.graph import Place, Spot
from samedevice.places.solution import SiteGroup
from samedevice.rules._build import NO_NAME, edit, finding, fix, short, to_device

RULE = "hard-coded-device"
_RANKED = "each process has a device of its own here, and nothing in reach names it"
_DEVICES = re.compile(r"cuda|gpu|mps|xpu|npu|hpu|cpu|device", re.IGNORECASE)
_CHOICE = '"cuda" if torch.cuda.is_available() else "cpu"'


def find(solution: Solution) -> Iterator[Finding]:
    """Report device literals and moves by name."""
    for groups in solution.model_parallel().values():
        yield _on_purpose(solution, groups)
    for group in solution.groups("literal"):
        if group.first.name.startswith("cpu") and solution.place(group.first.node) is Place.CENTRAL:
            yield _chosen_cpu(solution, group)
        elif (
            not group.first.detail["guarded"]
            and _accelerator(group)
            and not _chosen(solution, group.spot)
        ):
            yield _literal(solution, group)
    for group in solution.groups("indexed"):
        named = group.spot.node in solution.interpreter.named_literals
        if solution.ranked(group.spot.path) or not named or group.first.detail["guarded"]:
            continue
        if not _chosen(solution, group.spot):
            yield _indexed(solution, group)
    for kind in ("move", "module-move"):
        for group in solution.groups(kind):
            if (
                group.first.name == "cuda"
                and not _under_guard(solution, group)
                and not _chosen(solution, group.spot)
            ):
                yield _move(solution, group)


def _chosen(solution: Solution, spot: Spot) -> bool:
    """Tell whether a test about devices decides if this code runs: it is a choice, then."""
    parents = solution.parents(spot.path)
    node: ast.AST | None = spot.node
    while node is not None:
        parent = parents.get(node)
        if isinstance(parent, ast.If | ast.IfExp) and node is not parent.test:
            if _DEVICES.search(solution.code_of(spot.path, parent.test)):
                return True
        node = parent
    return False


def _on_purpose(solution: Solution, groups: list[SiteGroup]) -> Finding:
    names = " and ".join(sorted({group.first.name for group in groups}))
    first = finding(
        solution, RULE, groups[0].spot,
        f"{names} are named side by side: a model spread over GPUs on purpose is left as it is",
        None, unfixed="which layer is where is the design of this program",
    )  # fmt: skip
    return replace(first, level="note")


def _accelerator(group: SiteGroup) -> bool:
    root = group.first.node.find() if group.first.node is not None else None
    return root is not None and root.pin is Place.CENTRAL


def _chosen_cpu(solution: Solution, group: SiteGroup) -> Finding:
    """The program's one device is the CPU, written out: the resolver takes its place."""
    parent = solution.parents(group.spot.path).get(group.spot.node)
    repair = Fix((edit(solution, group.spot, "replace", code=_choice(solution, group)),))
    return finding(
        solution, RULE, group.spot,
        f"{short(solution.code(group.spot))} is the program's only device; an accelerator would "
        "never be used",
        repair if parent is not None else None,
    )  # fmt: skip


def _choice(solution: Solution, group: SiteGroup) -> str:
    alias = solution.alias(group.spot.path, "torch")
    return _CHOICE.replace("torch.", f"{alias}.") if alias else _CHOICE


def _literal(solution: Solution, group: SiteGroup) -> Finding:
    """Replace a device's name: by the resolver's expression where it is the definition."""
    spot = group.spot
    repair: Fix | None = None
    if spot.node in solution.interpreter.named_literals:
        if solution.alias(spot.path, "torch"):
            repair = Fix((edit(solution, spot, "replace", code=_choice(solution, group)),))
    else:
        parents = solution.parents(spot.path)
        parent = parents.get(spot.node)
        if (
            isinstance(parent, ast.Call)
            and len(parent.args) == 1
            and solution.interpreter.dotted(parent.func).rpartition(".")[2] == "device"
        ):
            spot = Spot(spot.path, parent)
        name = solution.name_at(spot)
        if name is not None and not isinstance(parents.get(spot.node), ast.arguments):
            repair = fix(name, edit(solution, spot, "replace", code=name.code))
    return finding(
        solution, RULE, spot,
        f"{short(solution.code(spot))} names one vendor's device: the program cannot run without "
        "it",
        repair, unfixed=NO_NAME,
    )  # fmt: skip


def _indexed(solution: Solution, group: SiteGroup) -> Finding:
    """`device = f"cuda:{gpu}"`: that GPU, where there is one."""
    alias = solution.alias(group.spot.path, "torch")
    code = f'{{}} if {alias}.cuda.is_available() else "cpu"'
    return finding(
        solution, RULE, group.spot,
        f"{short(solution.code(group.spot))} names one vendor's device: the program cannot run "
        "without it",
        Fix((edit(solution, group.spot, "replace", code=code),)) if alias else None,
        unfixed="torch is not imported here",
    )  # fmt: skip


def _move(solution: Solution, group: SiteGroup) -> Finding:
    call = group.spot.node
    name = solution.name_at(group.spot)
    repair: Fix | None = None
    if name is not None and isinstance(call, ast.Call) and _usual(solution, group, call):
        repair = fix(name, *to_device(solution, group.spot, name))
    return finding(
        solution, RULE, group.spot,
        f"`{short(solution.code(group.spot))}` moves to CUDA whatever machine it runs on",
        repair, unfixed=_RANKED if solution.ranked(group.spot.path) else NO_NAME,
    )  # fmt: skip


def _usual(solution: Solution, group: SiteGroup, call: ast.Call) -> bool:
    """Tell whether a move goes to the program's one device, by no index or by the chosen one."""
    match call.args:
        case []:
            return True
        case [ast.Constant(value=0)]:
            return not any(solution.groups("indexed"))
        case [ast.Name() | ast.Attribute() as index]:
            return solution.decided_by(group.spot.path, ast.unparse(index))
    return False


def _under_guard(solution: Solution, group: SiteGroup) -> bool:
    """Tell whether a move is inside a test for the accelerator; `cuda-branch` deals with those."""
    return all(site.detail["guarded"] for site in group.sites)
