"""A legacy constructor such as `torch.FloatTensor(...)` creates on the CPU what meets the device.

Why: the typed constructors of PyTorch 0.x take no CUDA device. Their result has to be moved.

Example:

    eps = torch.FloatTensor(32, 8).normal_()
    z = mean + eps * std

becomes

    eps = torch.FloatTensor(32, 8).to(device).normal_()
    z = mean + eps * std

Fix safety: safe. On a CPU-only machine `.to(device)` returns the same tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from samedevice.finding import Finding
from samedevice.inference import Solution
from samedevice.inference.events import Creation, LegacyCreated
from samedevice.inference.sites import Group
from samedevice.reading import syntax
from samedevice.rules._create import placed, unplaced

_MADE = "it is given a tensor already, and takes none that is on the device"


def find(solution: Solution) -> Iterator[Finding]:
    """Report legacy constructions that meet the device."""
    for group, _ in unplaced(solution, LegacyCreated):
        if group.first.name.startswith("torch.cuda."):
            continue  # it is there already, as long as there is CUDA
        found = placed(
            solution, "legacy-constructor", group,
            "`{}` is created on the CPU but meets tensors on the device",
        )  # fmt: skip
        yield replace(found, fix=None, unfixed=_MADE) if _is_of_made(solution, group) else found


def _is_of_made(solution: Solution, group: Group[Creation]) -> bool:
    """Tell whether a constructor is given what one like it has made before, in the same function.

    It takes no tensor that is on the device: `X = torch.FloatTensor(X)` in a loop gets its own.
    """
    home = solution.programs.function_of(group.spot)
    match group.spot.node:
        case ast.Call(func=func, args=[ast.Name(id=name)]) if home is not None:
            pass
        case _:
            return False
    made = syntax.dotted(func)
    parents = solution.programs.parents(group.spot.path)
    outer: ast.AST | None = group.spot.node
    while outer is not home and not isinstance(outer, (ast.For, ast.While)):
        outer = parents.get(outer) if outer is not None else home
    looped = outer is not home
    return any(
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and syntax.dotted(node.value.func) == made
        and any(isinstance(each, ast.Name) and each.id == name for each in node.targets)
        and (looped or node.lineno < group.spot.node.lineno)
        for node in syntax.walk(home)
    )
