"""A loss holds tensors, such as class weights, and is never moved to the device.

Why: `CrossEntropyLoss(weight=w)` keeps `w` as a buffer. The loss computes where its buffer is, so
it has to move like any other module.

Example:

    criterion = nn.CrossEntropyLoss(weight=class_weights)

becomes

    criterion = nn.CrossEntropyLoss(weight=class_weights).to(device)

Fix safety: safe. On a CPU-only machine moving a module changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from samedevice.finding import Finding
from samedevice.inference import Solution
from samedevice.rules.module_not_moved import report, unmoved


def find(solution: Solution) -> Iterator[Finding]:
    """Report losses with tensors that are never moved."""
    for group, holds in unmoved(solution):
        if holds:
            yield report(solution, "loss-not-moved", group)
