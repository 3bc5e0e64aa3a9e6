"""The lengths given to `pack_padded_sequence` are on the device.

Why: cuDNN reads the lengths on the CPU, so `pack_padded_sequence` accepts only a CPU tensor
("'lengths' argument should be a 1D CPU int64 tensor"). Moving a whole batch moves them too.

Example:

    packed = pack_padded_sequence(embedded, lengths)

becomes

    packed = pack_padded_sequence(embedded, lengths.cpu())

Fix safety: safe. On a CPU-only machine `.cpu()` returns the same tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import DeviceExpression, Finding
from samedevice.inference import Solution
from samedevice.inference.events import LengthsRead
from samedevice.inference.nodes import Place
from samedevice.rules._build import edit, finding, fix, short


def find(solution: Solution) -> Iterator[Finding]:
    """Report lengths on the device."""
    for group in solution.groups(LengthsRead):
        if not isinstance(group.spot.node, ast.expr):
            continue
        if not any(solution.place(s.node) is Place.CENTRAL for s in group.sites):
            continue
        yield finding(
            solution, "lengths-on-device", group.spot,
            f"`{short(solution.code(group.spot))}` is on the device, but lengths must be on the "
            "CPU",
            fix(DeviceExpression(""), edit(solution, group.spot, "method", code=".cpu()")),
        )  # fmt: skip
