"""Mixed precision is asked for by CUDA's name, whatever device is used.

Why: `torch.cuda.amp.autocast()` and `torch.autocast("cuda")` are for CUDA alone. They warn on the
CPU and do nothing on any other accelerator. `torch.autocast` takes the device's type; told to be
off on the CPU, it leaves the numbers there as they are (`torch.autocast("cpu")` would compute in
bfloat16).

Example:

    with torch.cuda.amp.autocast():
        loss = criterion(model(x), y)

becomes

    with torch.autocast(device.type, enabled=device.type == "cuda"):
        loss = criterion(model(x), y)

Fix safety: safe. On a CPU-only machine mixed precision was off and stays off.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice import syntax
from samedevice.finding import Finding, Fix
from samedevice.places import Solution
from samedevice.places.graph import Spot
from samedevice.places.solution import Name, SiteGroup
from samedevice.rules._build import edit, finding, short

RULE = "amp-tied-to-cuda"
_ERASURE = "amp"
_OLD = ("torch.cuda.amp.autocast", "torch.cuda.amp.autocast_mode.autocast")


def find(solution: Solution) -> Iterator[Finding]:
    """Report `autocast` and `GradScaler` that are meant for CUDA alone."""
    for group in solution.groups("amp"):
        found = _autocast(solution, group)
        if found is not None:
            yield found
    yield from _unread_imports(solution)


def _autocast(solution: Solution, group: SiteGroup) -> Finding | None:
    spot, call = group.spot, group.spot.node
    if not isinstance(call, ast.Call):
        return None
    old = group.first.name in _OLD
    scaler = group.first.name.endswith("GradScaler")
    given = {k.arg: k.value for k in call.keywords}
    first = given.get("device_type") or (call.args[0] if call.args and not old else None)
    if scaler:
        if "enabled" in given or call.args or not group.first.name.startswith("torch.cuda."):
            return None
    elif not old and not (isinstance(first, ast.Constant) and first.value == "cuda"):
        return None
    return finding(
        solution, RULE, spot,
        f"`{short(solution.code(spot))}` is mixed precision for CUDA alone",
        _repair(solution, group, call, scaler, old),
        unfixed="nothing in reach names the device here",
    )  # fmt: skip


def _repair(
    solution: Solution, group: SiteGroup, call: ast.Call, scaler: bool, old: bool
) -> Fix | None:
    spot = group.spot
    torch = solution.alias(spot.path, "torch")
    name = solution.name_at(spot)
    parent = solution.parents(spot.path).get(call)
    if isinstance(parent, ast.FunctionDef) or name is None:
        return None  # a decorator is evaluated where no device is
    kind = solution.kind_of(name, torch, spot)
    if not kind or not torch:
        return None
    given = {k.arg: k.value for k in call.keywords}
    uses = f'{kind} == "cuda"'
    asked = given.get("enabled") or (call.args[0] if old and call.args else None)
    if asked is not None and not (isinstance(asked, ast.Constant) and asked.value is True):
        code = solution.code(Spot(spot.path, asked))
        simple = isinstance(asked, ast.Name | ast.Attribute | ast.Call | ast.Constant)
        uses = f"{code if simple else f'({code})'} and {uses}"
    if scaler:
        return _fix(name, [edit(solution, spot, "keyword", name="enabled", value=uses)])
    rest = [
        f"{k.arg}={solution.code(Spot(spot.path, k.value))}"
        for k in call.keywords
        if k.arg not in ("enabled", "device_type")
    ]
    after = [solution.code(Spot(spot.path, a)) for a in call.args[1:]]
    if old and after:
        rest.insert(0, f"dtype={after[0]}")
        after = after[1:]
    if after or any(k.arg is None for k in call.keywords):
        return None
    arguments = ", ".join((kind, *rest, f"enabled={uses}"))
    return _fix(
        name, [edit(solution, spot, "replace", code=f"{torch}.autocast({arguments})")]
    )  # fmt: skip


def _fix(name: Name, edits: list) -> Fix:  # type: ignore[type-arg]
    return Fix(
        (*edits, *name.edits), imports=name.imports, resolvers=name.resolvers, erasure=_ERASURE
    )


def _unread_imports(solution: Solution) -> Iterator[Finding]:
    """Report names taken from torch.cuda.amp that nothing reads (any more)."""
    for path in solution.files():
        source = solution.project.sources[path]
        if "cuda.amp" not in source.text or solution.project.is_package(path):
            continue
        tree = solution.project.tree(path)
        if tree is None:
            continue
        imports = [
            node
            for node in syntax.statements(tree)
            if isinstance(node, ast.ImportFrom) and node.module == "torch.cuda.amp"
        ]
        if not imports:
            continue
        read = {n.id for n in syntax.walk(tree) if isinstance(n, ast.Name)}
        read |= solution.taken_from(path)
        for node in imports:
            kept = [a for a in node.names if (a.asname or a.name) in read or a.name != "autocast"]
            if len(kept) == len(node.names):
                continue
            spot = Spot(path, node)
            change = edit(solution, spot, "delete")
            if kept:
                names = ", ".join(ast.unparse(alias) for alias in kept)
                code = f"from torch.cuda.amp import {names}"
                change = edit(solution, spot, "replace_statement", code=code)
            yield finding(
                solution, RULE, spot, "nothing reads `autocast`", Fix((change,), erasure=_ERASURE)
            )
