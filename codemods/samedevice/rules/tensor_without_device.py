"""A tensor is created on the CPU and later meets the device.

Why: a factory without `device=` creates on the CPU. The first operation that combines its result
with a model's output or a moved batch stops with "Expected all tensors to be on the same device".
Naming the device at the creation is cheaper than moving the tensor later.

Example:

    noise = torch.randn(64, 100)
    fake = generator(noise)

becomes

    noise = torch.randn(64, 100, device=device)
    fake = generator(noise)

Fix safety: safe. On a CPU-only machine the device is the CPU, where the tensor was created before.
"""

from __future__ import annotations

from collections.abc import Iterator

from samedevice.finding import Finding
from samedevice.inference import Solution
from samedevice.inference.events import Created
from samedevice.rules._create import placed, unplaced


def find(solution: Solution) -> Iterator[Finding]:
    """Report creations in driver code."""
    for group, inside in unplaced(solution, Created):
        if not inside:
            yield placed(
                solution, "tensor-without-device", group,
                "`{}` is created on the CPU but meets tensors on the device",
            )  # fmt: skip
