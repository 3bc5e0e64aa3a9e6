"""Options that say where some tensors are stored, and nothing of where the program computes.

`--use_cuda` of a program whose model goes to CUDA whatever it says, and that takes results to the
CPU where it says no: the user keeps memory free with it. It is not what chooses the device.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samedevice.inference.events import BranchTaken, ModuleMoved
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.solution import Solution


def storing(solution: Solution) -> frozenset[str]:
    """Return the files whose options decide on storage alone."""
    found = {
        group.spot.path
        for group in solution.all_groups(BranchTaken)
        if any(site.choice for site in group.sites) and _takes_back(group.spot.node)
    }
    moves = [
        (group.spot.path, all(site.under_device_test for site in group.sites))
        for group in (solution.all_groups(ModuleMoved) if found else ())
        if group.first.name == "cuda"
    ]
    always = {path for path, guarded in moves if not guarded}
    return frozenset((found & always) - {path for path, guarded in moves if guarded})


def _takes_back(node: ast.AST) -> bool:
    """Tell whether the arm of a branch without CUDA takes something to the CPU."""
    return isinstance(node, ast.If) and any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and part.func.attr == "cpu"
        for part in syntax.walk_all(node.orelse)
    )
