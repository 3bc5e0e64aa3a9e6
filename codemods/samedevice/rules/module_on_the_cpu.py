"""A module meets the device while it is on the CPU: it was moved back, or it is moved only later.

Why: `module.cpu()` and `module.to("cpu")` move the module itself, not a copy, and a module that is
moved behind its first use is still on the CPU there. Inputs on the device then fail with "Expected
all tensors to be on the same device" or "Input type and weight type should be the same".

Example:

    model = Net().to(device)
    torch.save(model.cpu().state_dict(), path)
    loss = model(batch.to(device)).mean()

has to move the model again before it computes, or to save what a copy of it holds.

Fix safety: there is no fix. Only the author knows which of the two moves is meant.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import Finding
from samedevice.inference import Solution
from samedevice.inference.nodes import Cause, Place
from samedevice.rules._build import finding, short


def find(solution: Solution) -> Iterator[Finding]:
    """Report modules where they meet the device before a move to it, or behind one to the CPU."""
    seen: set[ast.AST] = set()
    for clash, spot in solution.clashes():
        move = solution.module_move(clash.node)
        if move is None or solution.place(clash.other) is Place.FIXED or spot.node in seen:
            continue
        if not solution.evidence.is_there(clash.other):
            continue  # what only has to be on the device is where the module is, as long as that is
        seen.add(spot.node)
        moved, cause = move
        line = solution.span(moved).line
        there = solution.project.sources[moved.path]
        same = moved.path == spot.path and not there.is_notebook
        where = f"line {line}" if same else there.where(line)
        yield finding(
            solution, "module-on-the-cpu", spot,
            f"`{short(solution.code(spot))}` is on the CPU here, but meets tensors on the device: "
            + (f"it is moved only in {where}" if cause is Cause.UNMOVED
               else f"it was moved to the CPU in {where}"),
            None,
            origins=solution.origin(clash.node, "it is moved here"),
            unfixed="only you know which move is meant",
        )  # fmt: skip
