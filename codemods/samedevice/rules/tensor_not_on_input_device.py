"""A tensor made inside a module or helper is not on the device of the function's input.

Why: code that receives a tensor must work wherever that tensor is: on the CPU, on one GPU, on the
second GPU of a replica. A factory without `device=` always creates on the CPU, and a global
device is the wrong one in replicas. `device=x.device` is right everywhere.

Example:

    def forward(self, x):
        mask = torch.ones(x.size(1), x.size(1))

becomes

    def forward(self, x):
        mask = torch.ones(x.size(1), x.size(1), device=x.device)

Fix safety: safe. On a CPU-only machine the input is on the CPU, and so was the tensor before.
"""

from __future__ import annotations

from collections.abc import Iterator

from samedevice.finding import Finding
from samedevice.inference import Solution
from samedevice.inference.events import Created
from samedevice.rules._create import placed, unplaced


def find(solution: Solution) -> Iterator[Finding]:
    """Report creations in code that has an input to follow."""
    for group, inside in unplaced(solution, Created):
        if inside:
            yield placed(
                solution, "tensor-not-on-input-device", group,
                "`{}` is always created on the CPU, but it is combined with the function's input",
            )  # fmt: skip
