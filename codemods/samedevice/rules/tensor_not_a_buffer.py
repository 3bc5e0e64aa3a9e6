"""A module keeps a tensor in a plain attribute, so it stays behind when the module moves.

Why: `Module.to` moves parameters and buffers, nothing else. A mask, a positional table or a set of
anchors in a plain attribute stays on the CPU and fails in `forward`. As a buffer it moves along;
`persistent=False` keeps it out of the state dict, so that old checkpoints still load.

Example:

    self.mask = torch.tril(torch.ones(n, n))

becomes

    self.register_buffer("mask", torch.tril(torch.ones(n, n)), persistent=False)

Fix safety: safe. The attribute has the same value under the same name, and the state dict keeps
its keys.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice import syntax
from samedevice.finding import DeviceExpression, Finding, Fix
from samedevice.places import Solution
from samedevice.places.events import PlainTensor
from samedevice.places.objects import Obj
from samedevice.places.sites import Group
from samedevice.rules._build import edit, finding, fix, meeting, wanted


def find(solution: Solution) -> Iterator[Finding]:
    """Report tensors in plain attributes of modules that meet the device."""
    for group in solution.groups(PlainTensor):
        if not wanted(solution, group):
            continue
        if all(
            solution.certain(site.value.node) and solution.on_device(site.node)
            for site in group.sites
        ):
            continue  # it was put on the device before it was stored
        if any(site.trained for site in group.sites):
            # A buffer is replaced when the module moves; the optimizer would keep the old tensor.
            if not all(site.value.scalar for site in group.sites):
                yield finding(
                    solution, "tensor-not-a-buffer", group.spot,
                    f"`self.{group.first.name}` is trained but no parameter: it stays on the CPU "
                    "when the module moves",
                    None, origins=meeting(solution, group),
                    unfixed="it has to become an nn.Parameter, which changes the state dict",
                )  # fmt: skip
            continue
        repair = _register(solution, group)
        yield finding(
            solution, "tensor-not-a-buffer", group.spot,
            f"`self.{group.first.name}` is a plain attribute: it stays on the CPU when the module "
            "moves",
            repair, origins=meeting(solution, group),
            unfixed="the attribute is assigned in more than one place, or not by a plain statement",
        )  # fmt: skip


def _register(solution: Solution, group: Group[PlainTensor]) -> Fix | None:
    site = group.first
    statement = group.spot.node
    owner = site.owner
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not (isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)):
        return None
    if _stores(owner, site.name) != 1:
        return None
    receiver = target.value.id
    from samedevice.places.graph import Spot

    value = solution.code(Spot(group.spot.path, statement.value))
    code = f'{receiver}.register_buffer("{site.name}", {value}, persistent=False)'
    return fix(DeviceExpression(""), edit(solution, group.spot, "replace_statement", code=code))


def _stores(owner: Obj, attr: str) -> int:
    """Count the statements of the class that assign the attribute."""
    if owner.cls is None:
        return 0
    return sum(
        isinstance(node, ast.Attribute) and node.attr == attr and isinstance(node.ctx, ast.Store)
        for klass in owner.cls.mro()
        for node in syntax.walk(klass.node)
    )
