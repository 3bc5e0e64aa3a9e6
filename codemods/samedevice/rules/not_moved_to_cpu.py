"""A tensor on the device is handed to NumPy, a plot or another library without `.cpu()`.

Why: NumPy, matplotlib, scikit-learn and pandas read the CPU's memory. On a GPU machine
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

from samedevice.finding import DeviceExpression, Finding, Fix
from samedevice.inference import Solution
from samedevice.inference.events import HostRead, Shared
from samedevice.inference.nodes import Location, Place, PlaceVar
from samedevice.reading import syntax
from samedevice.repair import device_names
from samedevice.rules._build import MIXED, edit, finding, fix, short
from samedevice.rules._collected import collected
from samedevice.rules._shown import NOT_THERE, asks, doubted
from samedevice.torchfacts import tensor_method

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)


def find(solution: Solution) -> Iterator[Finding]:
    """Report tensors on the device that leave for host-only code."""
    on_host = {group.spot.node for group in solution.groups(HostRead)}
    for group in solution.groups(HostRead):
        site = next((s for s in group.sites if solution.place(s.node) is Place.CENTRAL), None)
        if site is None:
            continue
        if all(s.in_constructor for s in group.sites):
            continue
        if all(s.aside is not None and s.aside.shows_error for s in group.sites):
            continue
        spot, mixed = group.spot, False
        evaluations = solution.evaluations(site.scope, spot.node)
        if isinstance(site.node, PlaceVar) and len(group.sites) < evaluations:
            # Some callers hand in arrays or lists: the one with the tensor brings it to the CPU.
            function = site.scope.func.node if site.scope.func is not None else None
            spot = solution.entry(site.node, spot, function)
            mixed = _comes_back(solution, group.spot)
        repair: Fix | None = None
        written = site.method and _written(solution, group.spot)
        if mixed:
            pass  # there and back at each call is no repair: the function wants another operation
        elif not written and site.whole and isinstance(group.spot.node, ast.expr):
            place = _given_to_numpy(solution, spot)
            repair = fix(DeviceExpression(""), edit(solution, place, "method", code=".cpu()"))
        elif not site.whole and site.added:
            added = {where: tensor for tensor, where in site.added}
            if collected(solution, added, on_host):
                repair = fix(DeviceExpression(""), *(
                    edit(solution, where, "method", code=".cpu()")
                    for where, tensor in added.items()
                    if solution.place(tensor.node) is Place.CENTRAL
                ))  # fmt: skip
        found = finding(
            solution, "not-moved-to-cpu", spot,
            f"`{short(solution.code(spot))}` is on the device, but `{site.name}` reads the "
            "CPU's memory",
            repair,
            origins=solution.origin(site.node, "it is on the device because of this"),
            unfixed=MIXED if mixed
            else "the program writes to the array, no longer to the tensor" if written
            else "the tensors are in a container; move them where they are collected",
        )  # fmt: skip
        if asks(solution, found) and not any(
            not each.callers_unknown and solution.evidence.is_there(each.node)
            for each in group.sites
        ):
            found = doubted(found, NOT_THERE)
        yield found


def _given_to_numpy(solution: Solution, spot: Location) -> Location:
    """Return the tensor that a function of NumPy hands on as one: `x` of `np.squeeze(x)`."""
    numpy = device_names(solution).imports.alias(spot.path, "numpy")
    while isinstance(call := spot.node, ast.Call) and call.args:
        if not numpy or not syntax.dotted(call.func).startswith(f"{numpy}."):
            break
        spot = Location(spot.path, call.args[0])
    return spot


def _comes_back(solution: Solution, spot: Location) -> bool:
    """Tell whether a function of NumPy gives a tensor for a tensor, which then meets the device."""
    call = solution.programs.parents(spot.path).get(spot.node)
    groups = solution.groups_at(Shared, call) if isinstance(call, ast.Call) else ()
    return any(solution.on_device(site.node) for group in groups for site in group.sites)


def _written(solution: Solution, spot: Location) -> bool:
    """Tell whether the array over a tensor's memory gets a name and is changed by it."""
    parents = solution.programs.parents(spot.path)
    node = solution.statement_of(spot)
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
        return False
    if not (isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute)):
        return False
    if node.value.func.value is not spot.node:
        return False  # `t.numpy().copy()` is another array
    if _is_fresh(node.value.func.value):
        return False  # nobody else has the tensor, and will miss what is written
    name = node.targets[0].id
    scope: ast.AST | None = node
    while scope is not None and not isinstance(scope, _SCOPES):
        scope = parents.get(scope)
    for part in ast.walk(scope) if scope is not None else ():
        match part:
            case ast.Subscript(value=ast.Name(id=known), ctx=ast.Store()) if known == name:
                return True
            case ast.AugAssign(target=ast.Name(id=known)) if known == name:
                return True
    return False


def _is_fresh(value: ast.expr) -> bool:
    """Tell whether a tensor is what a call has just computed from others: `net(x).squeeze(0)`."""
    while True:
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr=attr)) if tensor_method(attr):
                value = inner
            case ast.Attribute(value=inner) | ast.Subscript(value=inner):
                value = inner
            case ast.Call(args=[_, *_]):
                return True
            case _:
                return False
