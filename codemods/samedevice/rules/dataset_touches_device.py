"""A dataset or collate function moves what it returns to the device.

Why: items are made in worker processes. CUDA cannot be used in a forked worker ("Cannot
re-initialize CUDA in forked subprocess"), and items of which only some were moved cannot be
stacked. Items stay on the CPU; the batch is moved once, at the head of the loop.

Example:

    def __getitem__(self, index):
        return self.rows[index].to(device)

becomes

    def __getitem__(self, index):
        return self.rows[index]

Fix safety: safe. On a CPU-only machine `.to(device)` returned the same tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import DeviceExpression, Edit, Finding, Fix
from samedevice.inference import Solution
from samedevice.inference.events import Placed, TensorMoved
from samedevice.inference.nodes import Location, Place
from samedevice.inference.values import Const
from samedevice.reading import syntax
from samedevice.repair.asked import puts_on_device
from samedevice.rules._build import edit, finding, fix, idle, short, unmoved

_COMPUTES = "the data set has something of its own on the device, which it may compute with"


def find(solution: Solution) -> Iterator[Finding]:
    """Report moves in code that workers run, or of only some items."""
    for made in solution.hosted_groups(Placed):
        if not made.first.workers or not isinstance(made.spot.node, ast.Call):
            continue
        if not any(site.workers and _comes_to(solution, site) for site in made.sites):
            continue
        if all(k.arg != "device" for k in made.spot.node.keywords):
            continue
        if solution.place(made.first.node) is not Place.CENTRAL:
            continue
        dropped = edit(solution, made.spot, "drop_keyword", name="device")
        elsewhere = any(not site.in_worker for site in made.sites)
        computes = _computes_there(solution, made.spot)
        yield finding(
            solution, "dataset-touches-device", made.spot,
            f"`{short(solution.code(made.spot))}` runs in a worker, where items must stay on the "
            "CPU",
            None if elsewhere or computes else fix(DeviceExpression(""), dropped),
            unfixed=_COMPUTES if computes else "it also makes what is used on the device",
        )  # fmt: skip
    done: set[ast.AST] = set()
    for group in solution.hosted_groups(TensorMoved):
        if solution.programs.spawns(group.spot.path):
            continue  # workers that are spawned may use CUDA, and whoever says so knows it
        devices = [s.device for s in group.sites if s.workers or s.some]
        if not any(d and solution.place(d.node) is Place.CENTRAL for d in devices):
            continue
        parents = solution.programs.parents(group.spot.path)
        statement = solution.statement_of(group.spot)
        if statement in done:
            continue
        edits: list[Edit] = []
        if isinstance(statement, ast.Assign) and _only_moves(statement, group.spot.node):
            done.add(statement)
            parent = parents.get(statement)
            target: ast.AST = statement
            if isinstance(parent, ast.If) and len(parent.body) == 1 and not parent.orelse:
                target = parent
            edits.append(edit(solution, Location(group.spot.path, target), "delete"))
        else:
            edits.append(edit(solution, group.spot, "unwrap"))
        repair: Fix | None = fix(DeviceExpression(""), *edits)
        yield finding(
            solution, "dataset-touches-device", group.spot,
            f"`{short(solution.code(group.spot))}` runs in the dataset, where items must stay on "
            "the CPU",
            None if _computes_there(solution, group.spot) else repair,
            unfixed=_COMPUTES,
        )  # fmt: skip


def _computes_there(solution: Solution, spot: Location) -> bool:
    """Tell whether the object whose method some code is in puts something of its own on a device,
    in its constructor: what it computes with that has to go there, too."""
    parents = solution.programs.parents(spot.path)
    node: ast.AST | None = spot.node
    while node is not None and not isinstance(node, ast.ClassDef):
        node = parents.get(node)
    built = [each for each in node.body if _is_constructor(each)] if node is not None else []
    return any(
        isinstance(part, ast.Assign)
        and syntax.dotted(part.targets[0]).startswith("self.")
        and puts_on_device(part.value)
        for each in built
        for part in syntax.walk(each)
    )


def _is_constructor(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == "__init__"


def _comes_to(solution: Solution, site: Placed) -> bool:
    """Tell whether a call comes to a place, as far as the constants that it is given decide it."""
    parents = solution.programs.parents(site.spot.path)
    inner: ast.AST = site.spot.node
    node = parents.get(inner)
    while node is not None and node is not site.scope.node:
        if isinstance(node, ast.If) and inner is not node.test:
            asked, positive = node.test, inner in node.body
            if isinstance(asked, ast.UnaryOp) and isinstance(asked.op, ast.Not):
                asked, positive = asked.operand, not positive
            held = site.scope.names.get(asked.id) if isinstance(asked, ast.Name) else None
            if isinstance(held, Const) and bool(held.value) is not positive:
                return False
        inner, node = node, parents.get(node)
    return True


def _only_moves(statement: ast.Assign, move: ast.AST) -> bool:
    """Tell whether an assignment is idle but for this move and those with the same arguments."""
    how = _how(move)
    return how != "" and idle(unmoved(statement, lambda call: _how(call) == how))


def _how(move: ast.AST) -> str:
    """Return a move's method and arguments without what is moved, and "" if it does more."""
    match move:
        case ast.Call(func=ast.Attribute(attr=attr), args=args, keywords=keywords):
            if len(args) < 2 and all(k.arg in ("device", "non_blocking") for k in keywords):
                return ast.unparse(ast.Call(ast.Name(attr), args, keywords))
    return ""
