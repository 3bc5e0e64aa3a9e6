"""A tensor that is on the CPU for a reason meets the device.

Why: what a dataset holds, what `.cpu()` returned or what was created with `device="cpu"` stays on
the CPU. Where such a tensor enters an operation on the device, it has to be moved.

Example:

    data = TensorDataset(x, y)
    score = model(x[:100])

becomes

    data = TensorDataset(x, y)
    score = model(x[:100].to(device))

What is written in place (`average.mul_(0.9).add_(weight)`) stays where it is: there the other
operand comes to the CPU.

Fix safety: safe. On a CPU-only machine `.to(device)` returns the same tensor.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from samedevice.finding import DeviceExpression, Finding, Fix
from samedevice.inference import Solution
from samedevice.inference.events import GivenDevice, ModuleMoved, Placing
from samedevice.inference.nodes import Location, Place, PlaceVar
from samedevice.inference.objects import Instance
from samedevice.inference.sites import perhaps_number
from samedevice.inference.values import Tensor
from samedevice.reading import syntax
from samedevice.repair import device_names
from samedevice.rules._build import NO_NAME, edit, finding, fix, short, written_in_place
from samedevice.rules._shown import NOT_ON_HOST, asks, doubted, shown

_HOST = re.compile(r"(?i)cpu|host")


def _written(solution: Solution, node: PlaceVar) -> Location | None:
    """Return the device that says "cpu" right where the value is created or moved."""
    spot = solution.host_device(node)
    if spot is None or not isinstance(spot.node, ast.Constant):
        return None
    parents = solution.programs.parents(spot.path)
    outer = parents.get(spot.node)
    if isinstance(outer, ast.arguments):
        return None  # a parameter's default serves every caller
    if isinstance(outer, ast.Call) and syntax.dotted(outer.func).endswith("device"):
        spot = Location(spot.path, outer)
    return spot


def _handed_on(solution: Solution, spot: Location) -> bool:
    """Tell whether a device is an argument for a function of the project: the caller's choice."""
    parents = solution.programs.parents(spot.path)
    call = parents.get(spot.node)
    if isinstance(call, ast.keyword):
        call = parents.get(call)
    if not isinstance(call, ast.Call):
        return False
    return not any(solution.groups_at(kind, call) for kind in (GivenDevice, Placing))


def _is_part(solution: Solution, spot: Location) -> bool:
    """Tell whether an operand is a module, a parameter or a buffer of the module whose code it
    is in: it moves with that."""
    scope = solution.scope_at(spot)
    module = solution.reach.module_of(scope) if scope is not None else None
    match spot.node:
        case ast.Attribute(value=ast.Name(id="self"), attr=attr) if module is not None:
            held = module.attrs.get(attr)
            if isinstance(held, Tensor):
                return held.parameter or module.holds(held)
            return isinstance(held, Instance) and held.family == "module"
    return False


def _stays_with_module(solution: Solution, spot: Location, node: PlaceVar) -> str:
    """Return why a value stays where the module is that it is a part of, or made by, or "".

    A program for the CPU that takes a module there itself computes there: nothing of it is on the
    device as yet.
    """
    if _is_part(solution, spot):
        return "it is where its module is, which nothing here moves"
    converts = solution.policy.for_the_cpu | solution.project.converted
    if spot.path in converts and any(
        any(solution.groups_at(ModuleMoved, moved.node)) for moved in solution.brought_to_host(node)
    ):
        return "the program takes the module that computes it to the CPU"
    return ""


def _computes_there(solution: Solution, spot: Location) -> bool:
    """Tell whether a function brings a module to the CPU, as `model.to("cpu")` on its own does."""
    home = solution.programs.function_of(spot)
    for node in syntax.statements(home) if home is not None else ():
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="cpu"), args=[])):
                return True
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="to"), args=[where])):
                if ast.unparse(where) in ("'cpu'", "torch.device('cpu')"):
                    return True
    return False


def _to_host(solution: Solution, spot: Location) -> Fix | None:
    """Return the fix that brings an operand to the CPU."""
    if not isinstance(spot.node, ast.expr):
        return None
    return fix(DeviceExpression(""), edit(solution, spot, "method", code=".cpu()"))


def _chosen(solution: Solution, spot: Location) -> tuple[Fix | None, str]:
    """Return the fix where "cpu" is written, or why there is none."""
    name = device_names(solution).name_at(spot)
    if _handed_on(solution, spot):
        return None, "the caller chose the CPU for this call"
    if _computes_there(solution, spot):
        return None, "the function takes a module to the CPU, too, and computes there"
    if _named_for_it(solution, spot):
        return None, "the program has a name for the CPU here"
    if name is None:
        return None, NO_NAME
    return fix(name, edit(solution, spot, "replace", code=name.code)), NO_NAME


def _named_for_it(solution: Solution, spot: Location) -> bool:
    """Tell whether a name is bound to the CPU that says so, or that is an arm of a choice.

    `cpu = torch.device("cpu")` beside `cuda`: what is for the CPU says so by that name.
    """
    match solution.statement_of(spot):
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is spot.node:
            pass
        case _:
            return False
    return _HOST.search(name) is not None or any(
        isinstance(node, ast.IfExp)
        and any(isinstance(arm, ast.Name) and arm.id == name for arm in (node.body, node.orelse))
        for node in syntax.walk(solution.programs.tree(spot.path))
    )


def _moved(solution: Solution, spot: Location, node: PlaceVar) -> tuple[Fix | None, str]:
    """Return the fix that moves an operand where it enters, or why there is none."""
    if stays := _stays_with_module(solution, spot, node):
        return None, stays
    name = device_names(solution).name_at(spot)
    if name is None:
        return None, NO_NAME
    return fix(name, edit(solution, spot, "method", code=f".to({name.code})")), NO_NAME


def find(solution: Solution) -> Iterator[Finding]:
    """Report host tensors where they enter an operation on the device."""
    seen: set[ast.AST] = set()
    kept = {group.first.other.node for group in solution.kept()}
    for clash, spot in solution.clashes():
        if spot.node in kept:
            continue  # what it meets is from an earlier call
        if spot.node in seen or not isinstance(spot.node, ast.expr):
            continue
        if solution.place(clash.node) is Place.FIXED or solution.place(clash.other) is Place.FIXED:
            continue
        if clash.meet.kind == "generator" or solution.module_move(clash.node) is not None:
            continue  # these have rules of their own
        if perhaps_number(clash.node) or perhaps_number(clash.other):
            continue  # `undecided` tells it
        if solution.defaulted(clash.node):
            continue
        seen.add(spot.node)
        unfixed = NO_NAME
        named = not clash.to_host and device_names(solution).name_at(spot) is not None
        written = _written(solution, clash.node) if named else None
        if clash.to_host:
            repair = _to_host(solution, spot)
        elif written is not None and not solution.serves_host(clash.node):
            spot = written
            if spot.node in seen:
                continue
            seen.add(spot.node)
            repair, unfixed = _chosen(solution, spot)
        elif written_in_place(solution, clash.spot):
            repair = _to_host(solution, solution.other_side(clash))
        else:
            repair, unfixed = _moved(solution, spot, clash.node)
        found = finding(
            solution, "pinned-to-cpu", spot,
            f"`{short(solution.code(spot))}` is "
            + ("on the device but indexes a tensor on the CPU" if clash.to_host
               else "on the CPU but meets tensors on the device"),
            repair,
            origins=solution.origin(clash.node, "it got its device here"),
            unfixed=unfixed,
        )  # fmt: skip
        there = clash.node if clash.to_host else clash.other
        yield _as_shown(solution, found, there, solution.evidence.is_one(clash))


def _as_shown(solution: Solution, found: Finding, there: PlaceVar, certain: bool) -> Finding:
    """Return a finding whose edit is withheld unless both sides of its clash are certain."""
    if asks(solution, found) and not certain:
        return doubted(found, NOT_ON_HOST)
    return shown(solution, found, [there])
