"""A function takes a device, creates tensors on it, and is called without one.

Why: `def grid(n, device=None)` creates on the CPU when the caller forgets the argument, however
carefully it passes it on inside.

Example:

    mask = causal(x.size(1))

becomes

    mask = causal(x.size(1), device=x.device)

A function may also make up for a parameter that is None, and then move something to the parameter
itself: `.to(None)` moves nothing. There, the name of what it made stands instead.

Fix safety: safe. On a CPU-only machine the tensor was created on the CPU and still is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import DeviceExpression, Finding, Fix
from samedevice.inference import Solution
from samedevice.inference.events import Built, Creation, GivenDevice
from samedevice.inference.nodes import Place
from samedevice.inference.sites import LeftOut, Site
from samedevice.inference.values import Arg, Const
from samedevice.repair import device_names
from samedevice.rules._build import NO_NAME, argument, edit, finding, fix, short
from samedevice.rules._none_device import Unresolved, unresolved
from samedevice.rules._shown import shown


def find(solution: Solution) -> Iterator[Finding]:
    """Report calls that leave out the device of what they create."""
    done: set[object] = set()
    made_up_for = solution.view(unresolved)
    for kind in (Creation, GivenDevice, Built):
        for group in solution.groups(kind):
            for site in group.sites:
                place = solution.place(site.node)
                meets = place in (Place.CENTRAL, Place.FOLLOWS) or (
                    kind is GivenDevice and solution.clashing(site.node)
                )
                given = _given(site)
                if not meets or given is None or not isinstance(given[0], Const):
                    continue
                if given[1].node in made_up_for:
                    continue
                if not str(given[0].value or "cpu").startswith("cpu"):
                    continue  # a default that names an accelerator is the function's own fault
                left = solution.left_out(given[0])
                if left is None or left.call.node in done or _moves_along(solution, site):
                    continue
                if _says_cuda(left):
                    continue
                if given[0].value is not None and _for_the_cpu(solution, left):
                    continue
                done.add(left.call.node)
                yield shown(solution, _report(solution, left), [site.node])
    for use in made_up_for.values():
        yield _made_up_for(solution, use)
    for left in solution.left_to_cpu():
        if left.call.node not in done and not (_for_the_cpu(solution, left) or _says_cuda(left)):
            done.add(left.call.node)
            yield shown(solution, _report(solution, left), [])


def _for_the_cpu(solution: Solution, left: LeftOut) -> bool:
    """Tell whether a default that names the CPU is meant: in a test that uses no device.

    What nobody calls may be called for it, too.
    """
    return left.uncalled or solution.programs.is_test(left.call.path)


def _says_cuda(left: LeftOut) -> bool:
    """Tell whether a call says by its name where it goes: `model.cuda()` leaves out which GPU."""
    call = left.call.node
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "cuda"
    )


def _report(solution: Solution, left: LeftOut) -> Finding:
    spot, parameter, _ = left
    name = device_names(solution).name_at(spot)
    repair: Fix | None = None
    if name is not None:
        value = argument(solution, spot.node, parameter, name)
        repair = fix(name, edit(solution, spot, "keyword", name=parameter, value=value))
    return finding(
        solution, "device-not-passed", spot,
        f"`{short(solution.code(spot))}` leaves out `{parameter}`, so what it creates "
        "stays on the CPU",
        repair, unfixed=NO_NAME,
    )  # fmt: skip


def _made_up_for(solution: Solution, use: Unresolved) -> Finding:
    """Return the finding for a parameter that may be None, beside the name for what it means."""
    name = DeviceExpression(use.resolved)
    return finding(
        solution, "device-not-passed", use.spot,
        f"`{solution.code(use.spot)}` is None for those who leave it out, and then this stays on "
        f"the CPU; `{use.resolved}` is the device that it stands for",
        fix(name, edit(solution, use.spot, "replace", code=use.resolved)),
    )  # fmt: skip


def _given(site: Site) -> Arg | None:
    """Return the device that something was told."""
    if isinstance(site, (GivenDevice, Built)):
        return site.device
    return site.kwargs.get("device") if isinstance(site, Creation) else None


def _moves_along(solution: Solution, site: Site) -> bool:
    """Tell whether what a module makes for itself is registered in it: it moves with it."""
    if not site.in_constructor:
        return False
    parents = solution.programs.parents(site.spot.path)
    node = parents.get(site.spot.node)
    while node is not None and not isinstance(node, ast.stmt):
        if isinstance(node, ast.Call):
            last = ast.unparse(node.func).rpartition(".")[2]
            if last in ("Parameter", "Buffer", "register_buffer", "register_parameter"):
                return True
        node = parents.get(node)
    wholes = site.module.wholes()[1:] if isinstance(site, Built) else ()
    return any(whole.moves for whole in wholes)
