"""Data that enters from NumPy or Python stays on the CPU and later meets the device.

Why: `torch.from_numpy` and `torch.as_tensor` share the array's memory, so their result is on the
CPU. It has to be moved once, where it enters.

Example:

    x = torch.from_numpy(features).float()
    y = model(x)

becomes

    x = torch.from_numpy(features).to(device).float()
    y = model(x)

Fix safety: safe. On a CPU-only machine `.to(device)` returns the same tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import Finding
from samedevice.inference import Solution
from samedevice.inference.events import Creation, Shared, TensorMoved
from samedevice.inference.sites import Group
from samedevice.reading import syntax
from samedevice.rules._build import MIXED
from samedevice.rules._create import placed, unplaced

#: Why a tensor over memory that changes is not moved.
WRITTEN = "the array is written to later, which a copy on the device would not show"


def find(solution: Solution) -> Iterator[Finding]:
    """Report tensors over host memory that meet the device."""
    cast = {group.spot.node for group in solution.groups(TensorMoved) if group.first.name == "type"}
    for group, _ in unplaced(solution, Shared):
        if group.spot.node not in cast:  # `x.type(dtype)`, with a CUDA type at times: tensor-type
            yield placed(
                solution, "numpy-boundary", group,
                "`{}` is in the CPU's memory but meets tensors on the device",
                refused=MIXED if _perhaps_array(solution, group)
                else WRITTEN if _is_written_later(solution, group) else "",
            )  # fmt: skip


def _perhaps_array(solution: Solution, group: Group[Creation]) -> bool:
    """Tell whether a function of NumPy gets arrays from some callers, and gives them arrays."""
    first = group.first
    if not first.name.startswith("numpy."):
        return False
    return len(group.sites) < solution.evaluations(first.scope, group.spot.node)


def _is_written_later(solution: Solution, group: Group[Creation]) -> bool:
    """Tell whether code writes into the array whose memory a tensor shows: a copy would not.

    The array is an attribute that another method writes to, or a name that is written to below.
    """
    call = group.spot.node
    if not isinstance(call, ast.Call) or not call.args:
        return False
    array = call.args[0]
    home = solution.programs.function_of(group.spot)
    tree = solution.programs.tree(group.spot.path)
    match array:
        case ast.Attribute(value=ast.Name(id="self")):
            elsewhere = [f for fs in syntax.functions(tree).values() for f in fs if f is not home]
            return any(True for f in elsewhere for _ in _writes(f, array))
        case ast.Name(id=name):
            around = home if home is not None else tree
            bound = [
                node.lineno for node in syntax.walk(around)
                if isinstance(node, ast.Name) and node.id == name
                and not isinstance(node.ctx, ast.Load)
            ]  # fmt: skip
            return any(
                node.lineno > call.lineno
                and not any(call.lineno < line <= node.lineno for line in bound)
                for node in _writes(around, array)
            )
    return False


def _writes(around: ast.AST, array: ast.expr) -> Iterator[ast.expr]:
    """Yield where items of an array are stored."""
    code = ast.unparse(array)
    for node in syntax.walk(around):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            if ast.unparse(node.value) == code:
                yield node
