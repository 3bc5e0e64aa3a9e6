"""A random generator is on the CPU but draws tensors on the device.

Why: a factory and its generator must be on one device ("Expected a 'cuda' device type for
generator but found 'cpu'"). Loaders and samplers shuffle on the CPU, so a generator that serves
one of those stays there. On a default device (`torch.set_default_device`, a CUDA tensor type) they
need one of that device instead, since the order that they draw is a new tensor.

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
from samedevice.inference import Solution
from samedevice.inference.events import DefaultSet, Draw, GeneratorMade, Shuffled
from samedevice.inference.nodes import Location, Place
from samedevice.inference.sites import Group
from samedevice.inference.values import Const
from samedevice.reading import syntax
from samedevice.repair import device_names
from samedevice.rules._build import NO_NAME, edit, finding, fix, meeting, wanted
from samedevice.rules._shown import shown

_OF_CALLERS = "a caller makes the generator, on the CPU: it belongs where it draws"


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
    for shuffled in solution.groups(Shuffled):
        yield _order(solution, shuffled)
    for draw in solution.groups(Draw):
        if solution.place(draw.first.generator.node) is not Place.HOST:
            continue
        if not wanted(solution, draw) or not isinstance(draw.spot.node, ast.Call):
            continue
        written = next((k for k in draw.spot.node.keywords if k.arg == "device"), None)
        if written is None:
            continue
        code = solution.code(Location(draw.spot.path, written.value))
        moved: Fix | None = None
        if not any(_is_handed_in(site) for site in draw.sites):
            moved = fix(
                DeviceExpression(""),
                edit(solution, draw.spot, "drop_keyword", name="device"),
                edit(solution, draw.spot, "method", code=f".to({code})"),
            )
        yield finding(
            solution, "generator-device", draw.spot,
            "this draws on the device with a generator that has to stay on the CPU",
            moved, unfixed=_OF_CALLERS,
        )  # fmt: skip


def _order(solution: Solution, group: Group[Shuffled]) -> Finding:
    """Return the finding for what draws an order on a default device."""
    path = group.spot.path
    name = device_names(solution).central_for(group)
    torch = device_names(solution).imports.alias(path, "torch")
    told = [site for each in solution.groups(DefaultSet) for site in each.sites]
    by_type = all(site.name == "set_default_tensor_type" for site in told)
    repair: Fix | None = None
    # A new name would look for CUDA, where the program may mean another device.
    if name is not None and torch and (by_type or not name.resolvers):
        code = f"{torch}.Generator(device={name.code})"
        # With a condition the program runs on the CPU, in the order of the CPU's own generator.
        reason = ""
        if _is_in_a_loop(solution, group.spot):
            reason = "a new generator in each round draws the same order each time"
        elif not all(_is_for_cuda(solution, site) for site in told):
            reason = "on the CPU it would come in another order than before"
        repair = Fix(
            (edit(solution, group.spot, "keyword", name="generator", value=code), *name.edits),
            not reason, reason,
            imports=name.imports, resolvers=name.resolvers, erasure="generator",
        )  # fmt: skip
    return finding(
        solution, "generator-device", group.spot,
        "this draws an order with a generator of the CPU, where new tensors are on the device",
        repair, unfixed=NO_NAME,
    )  # fmt: skip


def _is_handed_in(site: Draw) -> bool:
    """Tell whether the generator of a drawing comes from a caller of the function, or of its class.

    Another caller may hand in one of the device: what draws serves both as it is.
    """
    func, made = site.scope.func, site.generator.site
    if func is None or made is None:
        return func is not None
    maker = made.scope.func
    if maker is None:  # a global one, unless a parameter stands for it
        given = next((k.value for k in _keywords(site) if k.arg == "generator"), None)
        return not isinstance(given, ast.Name) or given.id in syntax.parameters(func.node)
    within = maker.cls is not None and maker.cls is func.cls
    return not within and maker.node is not func.node


def _keywords(site: Draw) -> list[ast.keyword]:
    return site.spot.node.keywords if isinstance(site.spot.node, ast.Call) else []


def _is_in_a_loop(solution: Solution, spot: Location) -> bool:
    """Tell whether an expression is evaluated in each round of a loop."""
    parents = solution.programs.parents(spot.path)
    node, outer = spot.node, parents.get(spot.node)
    while outer is not None and not isinstance(outer, ast.FunctionDef):
        if isinstance(outer, ast.While) or (
            isinstance(outer, (ast.For, ast.AsyncFor)) and outer.iter is not node
        ):
            return True
        node, outer = outer, parents.get(outer)
    return False


def _is_for_cuda(solution: Solution, site: DefaultSet) -> bool:
    """Tell whether a default is CUDA on every machine, so that the program needs one."""
    call = site.spot.node
    if site.under_device_test or not isinstance(call, ast.Call) or len(call.args) != 1:
        return False
    node = solution.programs.parents(site.spot.path).get(call)
    while node is not None and not isinstance(node, (ast.FunctionDef, ast.Module)):
        if isinstance(node, (ast.If, ast.Try, ast.IfExp)):
            return False
        node = solution.programs.parents(site.spot.path).get(node)
    match call.args[0]:
        case ast.Constant(value=str() as text):
            return "cuda" in text
        case ast.Attribute(value=ast.Attribute(attr="cuda")):
            return True
    return False


def _is_elsewhere(solution: Solution, group: Group[GeneratorMade]) -> bool:
    """Tell whether a generator that shuffles for a loader is told a device that is not the CPU."""
    site = group.first
    return site.loader and not (
        site.device is not None
        and isinstance(site.device[0], Const)
        and str(site.device[0].value).startswith("cpu")
    )
