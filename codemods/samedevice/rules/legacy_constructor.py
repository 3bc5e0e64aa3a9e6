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

from collections.abc import Iterator

from samedevice.finding import Finding
from samedevice.inference import Solution
from samedevice.inference.events import LegacyCreated
from samedevice.rules._create import placed, unplaced


def find(solution: Solution) -> Iterator[Finding]:
    """Report legacy constructions that meet the device."""
    for group, _ in unplaced(solution, LegacyCreated):
        if group.first.name.startswith("torch.cuda."):
            continue  # it is there already, as long as there is CUDA
        yield placed(
            solution, "legacy-constructor", group,
            "`{}` is created on the CPU but meets tensors on the device",
        )  # fmt: skip
