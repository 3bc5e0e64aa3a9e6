"""A tensor on the device is handed to NumPy, a plot or another library without `.cpu()`.

Why: NumPy, matplotlib, scikit-learn and pandas read host memory. On a GPU machine
`tensor.numpy()` stops with "can't convert cuda:0 device type tensor to numpy".

Example:

    predictions = model(x).detach().numpy()

becomes

    predictions = model(x).detach().cpu().numpy()

Fix safety: safe. On a CPU-only machine `.cpu()` returns the same tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import Finding, Fix
from samedevice.places import Solution
from samedevice.places.graph import Node, Place
from samedevice.places.solution import Name
from samedevice.rules._build import edit, finding, fix, short


def find(solution: Solution) -> Iterator[Finding]:
    """Report tensors on the device that leave for host-only code."""
    for group in solution.groups("host"):
        site = next((s for s in group.sites if solution.place(s.node) is Place.CENTRAL), None)
        if site is None:
            continue
        if all(s.constructing for s in group.sites):
            continue
        spot = group.spot
        if isinstance(site.node, Node) and len(group.sites) < solution.evaluations(site.scope):
            # Some callers hand in arrays or lists: the one with the tensor brings it to the host.
            function = site.scope.func.node if site.scope.func is not None else None
            spot = solution.entry(site.node, spot, function)
        repair: Fix | None = None
        if site.detail.get("whole") and isinstance(group.spot.node, ast.expr):
            repair = fix(Name(""), edit(solution, spot, "method", code=".cpu()"))
        yield finding(
            solution, "host-boundary", spot,
            f"`{short(solution.code(spot))}` is on the device, but `{site.name}` reads host "
            "memory",
            repair,
            origins=solution.origin(site.node, "it is on the device because of this"),
            unfixed="the tensors are inside a container; move them where they are collected",
        )  # fmt: skip

