"""A random generator is on the CPU but draws tensors on the device.

Why: a factory and its generator must be on one device ("Expected a 'cuda' device type for
generator but found 'cpu'"). Loaders and samplers shuffle on the CPU, so a generator that serves
one of those stays there.

Example:

    generator = torch.Generator()
    noise = torch.randn(8, 3, generator=generator, device=device)

becomes

    generator = torch.Generator(device=device)
    noise = torch.randn(8, 3, generator=generator, device=device)

Fix safety: safe. On a CPU-only machine the generator is the same; on an accelerator it draws
another stream, as every generator there does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import DeviceExpression, Finding, Fix
from samedevice.naming import device_names
from samedevice.places import Solution
from samedevice.places.events import Draw, GeneratorMade
from samedevice.places.graph import Place
from samedevice.places.sites import Group
from samedevice.places.values import Const
from samedevice.rules._build import NO_NAME, edit, finding, fix, meeting, wanted
from samedevice.rules._shown import shown


def find(solution: Solution) -> Iterator[Finding]:
    """Report generators that serve the device, and draws that a host generator serves."""
    for group in solution.groups(GeneratorMade):
        if not isinstance(group.spot.node, ast.Call):
            continue
        if group.first.device is not None:
            if _is_elsewhere(solution, group) and not group.spot.node.args:
                yield finding(
                    solution, "generator-device", group.spot,
                    "this generator shuffles for a loader, which happens on the CPU",
                    fix(
                        DeviceExpression(""),
                        edit(solution, group.spot, "drop_keyword", name="device"),
                    ),
                )  # fmt: skip
            continue
        if not wanted(solution, group):
            continue
        name = device_names(solution).central_for(group)
        repair: Fix | None = None
        if name is not None:
            repair = fix(
                name, edit(solution, group.spot, "keyword", name="device", value=name.code)
            )
        found = finding(
            solution, "generator-device", group.spot,
            "this generator is on the CPU but draws tensors on the device",
            repair, origins=meeting(solution, group), unfixed=NO_NAME,
        )  # fmt: skip
        yield shown(solution, found, (site.node for site in group.sites))
    for draw in solution.groups(Draw):
        if solution.place(draw.first.generator.node) is not Place.HOST:
            continue
        if not wanted(solution, draw) or not isinstance(draw.spot.node, ast.Call):
            continue
        written = next((k for k in draw.spot.node.keywords if k.arg == "device"), None)
        if written is None:
            continue
        code = solution.code_of(draw.spot.path, written.value)
        yield finding(
            solution, "generator-device", draw.spot,
            "this draws on the device with a generator that has to stay on the CPU",
            fix(
                DeviceExpression(""),
                edit(solution, draw.spot, "drop_keyword", name="device"),
                edit(solution, draw.spot, "method", code=f".to({code})"),
            ),
        )  # fmt: skip


def _is_elsewhere(solution: Solution, group: Group[GeneratorMade]) -> bool:
    """Tell whether a generator that shuffles for a loader is told a device that is not the CPU."""
    site = group.first
    return site.loader and not (
        site.device is not None
        and isinstance(site.device[0], Const)
        and str(site.device[0].value).startswith("cpu")
    )
