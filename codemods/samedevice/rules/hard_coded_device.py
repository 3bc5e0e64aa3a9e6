"""The code names an accelerator itself: `.cuda()`, `"cuda"`, `device="cuda:0"`.

Why: such a program stops on every machine without CUDA, and a hard-coded device inside a layer
is the wrong one in replicas and on a second GPU. Inside a module the value goes to the device of
its input; elsewhere to the one device of the project.

Example:

    model = Net().cuda()
    x = torch.zeros(8, 3, device="cuda")

becomes

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    model = Net().to(device)
    x = torch.zeros(8, 3, device=device)

A parameter's default becomes `None`, and the function asks for the device when it is called.

Fix safety: safe. On a CPU-only machine the program could not run before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from samedevice.finding import Finding
from samedevice.inference import Solution
from samedevice.inference.events import (
    DeviceChosen,
    Indexed,
    Literal,
    Move,
    Settled,
    TensorMoved,
    device_of,
)
from samedevice.inference.nodes import Place
from samedevice.inference.sites import Site, SiteGroup
from samedevice.rules import (
    _choice,
    _chosen,
    _default,
    _handed,
    _moved,
    _parsed,
    _settled,
    _written_out,
)
from samedevice.rules._build import finding

RULE = "hard-coded-device"
#: A device that is no constant where it is used comes out of a text.
_READ = (ast.Name, ast.Attribute, ast.Subscript)


def find(solution: Solution) -> Iterator[Finding]:
    """Report device literals and moves by name."""
    for groups in solution.policy.model_parallel().values():
        yield _on_purpose(solution, groups)
    for group in _judged(solution, Literal):
        if isinstance(group.spot.node, _READ):
            continue
        if group.first.name.startswith("cpu") and solution.place(group.first.node) is Place.CENTRAL:
            if not (
                _chosen.is_chosen(solution, group.spot)
                or solution.is_default(group.spot.node)
                or _chosen.is_kept_up_to_date(solution, group.spot)
                or _chosen.is_said_on_purpose(solution, group.spot)
                or solution.programs.writes_cpu(group.spot.path)
            ):
                yield _written_out.chosen_cpu(solution, group)
        elif (
            not group.first.under_device_test
            and _choice.is_accelerator(solution, group)
            and not _number_of_process(solution, group)
            and not _chosen.is_chosen(solution, group.spot)
            and not _handed.is_compared(solution, group.spot)
            and not _default.is_unused(solution, group.spot)
        ):
            yield _written_out.literal(solution, group)
    for chosen in solution.groups(DeviceChosen):
        yield from _settled.switched_on(solution, chosen)
    for decided in solution.groups(Settled):
        yield from _settled.settled(solution, decided)
    yield from _parsed.parsed(solution)
    for group in _judged(solution, Indexed):
        if _of_rank(group) or group.first.under_device_test:
            continue
        if not solution.is_meant(group.spot.node):
            continue  # a text that only looks like a device's name
        if not _chosen.is_chosen(solution, group.spot):
            yield _written_out.indexed(solution, group)
    for group in _judged(solution, Move):
        if (
            group.first.name == "cuda"
            and not _of_rank(group)
            and not _under_guard(solution, group)
            and not _chosen.is_chosen(solution, group.spot)
        ):
            yield _moved.moved(solution, group)


def _judged(solution: Solution, event: type[Site]) -> Iterator[SiteGroup]:
    """Yield places of an event; those of a dataset, unless `dataset-touches-device` has them."""
    for group in solution.groups(event):
        unread = event is Indexed and _default.is_unused(solution, group.spot)
        if not (unread or solution.programs.pretends(group.spot)):
            yield group
    for group in solution.hosted_groups(event):
        if not any(map(_of_dataset, group.sites)):
            yield group


def _of_dataset(site: Site) -> bool:
    """Tell whether something is done by a worker, or to some items only."""
    if isinstance(site, TensorMoved):
        return site.workers or site.some
    return isinstance(site, Literal) and site.workers


def _of_rank(group: SiteGroup) -> bool:
    """Tell whether a place names the device of a process; `processes-tied-to-cuda` judges it."""
    devices = [device_of(site) for site in group.sites]
    return any(device is not None and device.rank is not None for device in devices)


def _number_of_process(solution: Solution, group: SiteGroup) -> bool:
    """Tell whether a number is handed to code that each process calls with its own."""
    node = group.spot.node
    number = isinstance(node, ast.Constant) and type(node.value) is int
    return number and solution.programs.is_distributed(group.spot.path)


def _on_purpose(solution: Solution, groups: list[SiteGroup]) -> Finding:
    names = " and ".join(sorted({_number(group) for group in groups}))
    first = finding(
        solution, RULE, groups[0].spot,
        f"{names} are used side by side: a model that is split over GPUs on purpose stays as it is",
        None, unfixed="the program chooses a device for each layer on purpose",
    )  # fmt: skip
    return replace(first, level="note")


def _number(group: SiteGroup) -> str:
    """Return what names a GPU: `cuda:1`, or the number that the program computed."""
    device = device_of(group.first)
    if device is not None and device.spot is not None:
        return ast.unparse(device.spot.node)
    return group.first.name


def _under_guard(solution: Solution, group: SiteGroup) -> bool:
    """Tell whether a move is inside a test for the accelerator; `cuda-branch` deals with those."""
    return all(site.under_device_test for site in group.sites)
