"""A value is used on the device, and the code does not show where the value itself is.

Why: such a value may be on the CPU, and then the program stops there. So `check` lists it when
asked, and does not say that nothing is wrong. The same is told of a module that a program for the
CPU hands to a library of which nothing is known, or trains without calling it in sight: what it is
called with may be on the CPU, so the program is not converted.

Example:

    batch = library.load(path)
    model(batch)

stays as it is: `samedevice fix --run "main.py"` finds out by running the program.

Fix safety: there is no fix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from samedevice.finding import Finding
from samedevice.places import Solution
from samedevice.places.events import GivenAway, Optimizes
from samedevice.rules._build import finding, short


def find(solution: Solution) -> Iterator[Finding]:
    """Report what meets the device and comes from where nothing can be read."""
    for group in solution.undecided():
        code = short(solution.code(group.spot))
        message = f"`{code}` is used on the device, and where it comes from could not be followed"
        if isinstance(group.first, GivenAway):
            message = f"`{code}` takes a module to a library whose code could not be followed"
        elif isinstance(group.first, Optimizes):
            message = f"`{code}` trains a module, and no code that could be followed calls it"
        found = finding(
            solution, "undecided", group.spot, message,
            None,
            origins=solution.origin(group.first.node, "the device comes from here"),
            unfixed='`samedevice fix --run "PROGRAM"` finds out by running the program',
        )  # fmt: skip
        yield replace(found, level="note")
