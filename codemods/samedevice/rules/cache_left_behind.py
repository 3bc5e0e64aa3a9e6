"""A tensor that is kept from an earlier call is where that call's input was.

Why: `Module.to` moves parameters and buffers. What a method has put into an attribute or a
dictionary for the next calls stays where it was made: once the module is back on the CPU, or is
given an input there, it fails with "Expected all tensors to be on the same device".

Example:

    if n not in self.cache:
        self.cache[n] = torch.arange(n, device=x.device)
    return self.scale * x + self.cache[n]

becomes

    if n not in self.cache:
        self.cache[n] = torch.arange(n, device=x.device)
    return self.scale * x + self.cache[n].to(x.device)

where a program moves the module to the CPU and calls it there.

Fix safety: safe. Where the tensor is on the input's device already, `.to` returns the same one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import Finding, Fix, Origin
from samedevice.inference import Solution
from samedevice.inference.open_events import MetKept
from samedevice.inference.sites import Group
from samedevice.reading import syntax
from samedevice.rules._build import edit, finding, short, written_in_place


def find(solution: Solution) -> Iterator[Finding]:
    """Report tensors that were kept on one side and meet what is on the other in a later call."""
    for group in solution.kept():
        site = group.first
        was, now = ("the device", "the CPU") if site.on_host else ("the CPU", "the device")
        since = Origin(site.since.path, solution.span(site.since), "it was kept here")
        yield finding(
            solution, "cache-left-behind", group.spot,
            f"`{short(solution.code(group.spot))}` was kept on {was}, and meets a value on {now} "
            "in a later call",
            _follow(solution, group),
            origins=(since,),
            unfixed="no parameter here is certainly a tensor on the device of this call",
        )  # fmt: skip


def _follow(solution: Solution, group: Group[MetKept]) -> Fix | None:
    """Return the fix that takes what was kept to where this call's input is."""
    spot = group.spot
    if written_in_place(solution, spot):
        return None
    other = group.first.other.node
    spoken = {part.id for part in syntax.walk(other) if isinstance(part, ast.Name)}
    names = [n for n in solution.reach.followed(group.first.scope) if "[" not in n]
    names.sort(key=lambda name: name not in spoken)
    if not names:
        return None
    code = f".to({names[0]}.device)"
    return Fix((edit(solution, spot, "method", code=code),))
