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

from samedevice.finding import Edit, Finding, Fix
from samedevice.places import Solution
from samedevice.places.graph import Place, Spot
from samedevice.places.solution import Name, SiteGroup
from samedevice.rules._build import NO_NAME, edit, finding, fix, short

RULE = "hard-coded-device"
_DEVICES = re.compile(r"cuda|gpu|mps|xpu|npu|hpu|cpu|device", re.IGNORECASE)
_CHOICE = '"cuda" if torch.cuda.is_available() else "cpu"'


def find(solution: Solution) -> Iterator[Finding]:
    """Report device literals, moves by name, and branches that only move."""
    for group in solution.groups("literal"):
        if group.first.name.startswith("cpu") and solution.place(group.first.node) is Place.CENTRAL:
            yield _chosen_cpu(solution, group)
        elif (
            not group.first.detail["guarded"]
            and _accelerator(group)
            and not _chosen(solution, group.spot)
        ):
            yield _literal(solution, group)
    for kind in ("move", "module-move"):
        for group in solution.groups(kind):
            if (
                group.first.name == "cuda"
                and not _under_guard(solution, group)
                and not _chosen(solution, group.spot)
            ):
                yield _move(solution, group)
    for group in solution.groups("branch"):
        found = _branch(solution, group)
        if found is not None:
            yield found


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


def _move(solution: Solution, group: SiteGroup) -> Finding:
    call = group.spot.node
    name = solution.name_at(group.spot)
    repair: Fix | None = None
    if name is not None and isinstance(call, ast.Call) and not call.args:
        repair = fix(name, *_to(solution, group.spot, name))
    return finding(
        solution, RULE, group.spot,
        f"`{short(solution.code(group.spot))}` moves to CUDA whatever machine it runs on",
        repair, unfixed=NO_NAME,
    )  # fmt: skip


def _to(solution: Solution, spot: Spot, name: Name) -> tuple[Edit, Edit]:
    """Return the edits that turn `x.cuda(...)` into `x.to(device, ...)`."""
    assert isinstance(spot.node, ast.Call)
    rest = "".join(
        f", {k.arg}={solution.code(Spot(spot.path, k.value))}"
        for k in spot.node.keywords
        if k.arg not in (None, "device")
    )
    return (
        edit(solution, spot, "unwrap"),
        edit(solution, spot, "method", code=f".to({name.code}{rest})"),
    )


def _under_guard(solution: Solution, group: SiteGroup) -> bool:
    """Tell whether a move is inside a test for the accelerator; `branch` deals with those."""
    return all(site.detail["guarded"] for site in group.sites)


def _branch(solution: Solution, group: SiteGroup) -> Finding | None:
    """`if torch.cuda.is_available(): model.cuda()` only moves: it becomes `model.to(device)`."""
    statement = group.spot.node
    if not isinstance(statement, ast.If) or statement.orelse or not group.first.detail["positive"]:
        return None
    edits: list[Edit] = []
    names: list[Name] = []
    moves = {
        g.spot.node
        for kind in ("move", "module-move")
        for g in solution.groups(kind)
        if g.first.name == "cuda"
    }
    for inner in statement.body:
        found = [node for node in ast.walk(inner) if node in moves]
        if not found or not _only_moves(inner):
            return None
        for node in found:
            spot = Spot(group.spot.path, node)
            name = solution.name_at(spot)
            if name is None or not isinstance(node, ast.Call) or node.args:
                return None
            names.append(name)
            edits.extend(_to(solution, spot, name))
    if not names:
        return None
    edits.append(edit(solution, group.spot, "body"))
    return finding(
        solution, RULE, Spot(group.spot.path, statement.test),
        "this branch only moves to CUDA; following the device does the same on every machine",
        fix(names[0], *edits),
    )  # fmt: skip


def _only_moves(statement: ast.stmt) -> bool:
    """Tell whether a statement moves values and does nothing else."""
    match statement:
        case ast.Assign(targets=targets, value=value):
            pairs = [(target, value) for target in targets]
        case ast.Expr(value=ast.Call(func=ast.Attribute()) as call):
            return not any(isinstance(n, ast.Call) for n in ast.walk(call.func))
        case _:
            return False
    for target, value in pairs:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            if len(target.elts) != len(value.elts):
                return False
            if not all(map(_moves_itself, target.elts, value.elts)):
                return False
        elif not _moves_itself(target, value):
            return False
    return True


def _moves_itself(target: ast.expr, value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(value=receiver)):
            return ast.unparse(receiver) == ast.unparse(target)
    return False
