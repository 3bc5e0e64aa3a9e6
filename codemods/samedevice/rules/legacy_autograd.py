"""A name or an idiom of PyTorch 0.3 stops the program: `loss.data[0]`, `retain_variables=True`.

Why: since PyTorch 0.4 a loss has no dimensions, and indexing it stops with "invalid index of a
0-dim tensor". `.item()` reads the number, wherever the tensor is. `backward` calls its argument
`retain_graph`, and a loader's iterator is advanced by `next(batches)`.

Example:

    loss = criterion(model(x), y)
    total += loss.data[0]

becomes

    loss = criterion(model(x), y)
    total += loss.item()

Fix safety: safe. The program could not run before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import Edit, Finding, Fix
from samedevice.inference import Solution
from samedevice.inference.events import FirstItem, OldName
from samedevice.inference.nodes import Location
from samedevice.repair import device_names
from samedevice.rules._build import edit, finding, short


def find(solution: Solution) -> Iterator[Finding]:
    """Report tensors without dimensions that are indexed, and names that are gone."""
    for group in solution.groups(FirstItem):
        node = group.spot.node
        if not (isinstance(node, ast.Subscript) and all(s.scalar for s in group.sites)):
            continue
        bare = group.first.bare
        owner = solution.code(Location(group.spot.path, bare))
        if isinstance(bare, (ast.BinOp, ast.UnaryOp)):
            owner = f"({owner})"
        yield _finding(
            solution, group.spot, "indexes a tensor without dimensions",
            edit(solution, group.spot, "replace", code=f"{owner}.item()"),
        )  # fmt: skip
    for old in solution.groups(OldName):
        call = old.spot.node
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
            continue
        if old.first.name == "next" and device_names(solution).imports.is_free(
            old.spot.path, "next"
        ):
            owner = solution.code(Location(old.spot.path, call.func.value))
            yield _finding(
                solution, old.spot, "calls a method that iterators have not had since Python 3",
                edit(solution, old.spot, "replace", code=f"next({owner})"),
            )  # fmt: skip
        for keyword in call.keywords:
            if keyword.arg == "retain_variables":
                value = solution.code(Location(old.spot.path, keyword.value))
                yield _finding(
                    solution, old.spot, "gives an argument that is called `retain_graph` now",
                    edit(solution, old.spot, "drop_keyword", name="retain_variables"),
                    edit(solution, old.spot, "keyword", name="retain_graph", value=value),
                )  # fmt: skip


def _finding(solution: Solution, spot: Location, message: str, *edits: Edit) -> Finding:
    return finding(
        solution, "legacy-autograd", spot, f"`{short(solution.code(spot))}` {message}",
        Fix(edits, erasure="variable"),
    )  # fmt: skip
