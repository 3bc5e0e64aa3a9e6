"""A number is read off a tensor as in PyTorch 0.3: `loss.data[0]`.

Why: since PyTorch 0.4 a loss has no dimensions, and indexing it stops with "invalid index of a
0-dim tensor". `.item()` reads the number, wherever the tensor is.

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

from samedevice.finding import Finding, Fix
from samedevice.places import Solution
from samedevice.places.graph import Spot
from samedevice.rules._build import edit, finding, short


def find(solution: Solution) -> Iterator[Finding]:
    """Report tensors without dimensions that are indexed."""
    for group in solution.groups("first-item"):
        node = group.spot.node
        if not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute)):
            continue
        if not all(site.detail["scalar"] for site in group.sites):
            continue
        owner = solution.code(Spot(group.spot.path, node.value.value))
        if isinstance(node.value.value, ast.BinOp | ast.UnaryOp):
            owner = f"({owner})"
        change = edit(solution, group.spot, "replace", code=f"{owner}.item()")
        yield finding(
            solution, "legacy-autograd", group.spot,
            f"`{short(solution.code(group.spot))}` indexes a tensor without dimensions",
            Fix((change,), erasure="variable"),
        )  # fmt: skip
