"""A comment switches off a rule that finds nothing there.

Why: the code that it was written for has changed, or a newer samedevice no longer reports it.
Left in place, it hides the next finding at that line, which nobody has looked at.

Example:

    table = torch.zeros(10, device=device)  # samedevice: ignore[tensor-without-device]

becomes

    table = torch.zeros(10, device=device)

Fix safety: there is no fix; take the comment out. It is a note, which changes no exit code.
"""

from __future__ import annotations

from collections.abc import Iterator

from samedevice.finding import Finding
from samedevice.inference import Solution


def find(solution: Solution) -> Iterator[Finding]:
    """Report nothing by itself: `check` knows it when all other rules have been asked."""
    yield from ()
