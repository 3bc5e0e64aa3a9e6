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

from collections.abc import Iterator

from samedevice.finding import Finding
from samedevice.inference import Solution
from samedevice.inference.events import Creation, Shared, TensorMoved
from samedevice.inference.sites import Group
from samedevice.rules._build import MIXED
from samedevice.rules._create import placed, unplaced


def find(solution: Solution) -> Iterator[Finding]:
    """Report tensors over host memory that meet the device."""
    cast = {group.spot.node for group in solution.groups(TensorMoved) if group.first.name == "type"}
    for group, _ in unplaced(solution, Shared):
        if group.spot.node not in cast:  # `x.type(dtype)`, with a CUDA type at times: tensor-type
            yield placed(
                solution, "numpy-boundary", group,
                "`{}` is in the CPU's memory but meets tensors on the device",
                refused=MIXED if _perhaps_array(solution, group) else "",
            )  # fmt: skip


def _perhaps_array(solution: Solution, group: Group[Creation]) -> bool:
    """Tell whether a function of NumPy gets arrays from some callers, and gives them arrays."""
    first = group.first
    if not first.name.startswith("numpy."):
        return False
    return len(group.sites) < solution.evaluations(first.scope, group.spot.node)
