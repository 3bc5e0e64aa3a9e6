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
from collections.abc import Collection, Container, Iterator

from samedevice import syntax
from samedevice.finding import DeviceExpression, Finding, Fix
from samedevice.places import Solution
from samedevice.places.events import HostRead
from samedevice.places.graph import Location, Place, PlaceVar
from samedevice.rules._build import edit, finding, fix, short
from samedevice.rules._shown import NOT_THERE, asks, doubted

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
        spot = group.spot
        evaluations = solution.evaluations(site.scope, spot.node)
        if isinstance(site.node, PlaceVar) and len(group.sites) < evaluations:
            # Some callers hand in arrays or lists: the one with the tensor brings it to the CPU.
            function = site.scope.func.node if site.scope.func is not None else None
            spot = solution.entry(site.node, spot, function)
        repair: Fix | None = None
        written = site.method and _written(solution, group.spot)
        if not written and site.whole and isinstance(group.spot.node, ast.expr):
            repair = fix(DeviceExpression(""), edit(solution, spot, "method", code=".cpu()"))
        elif not site.whole and site.added:
            added = {where: tensor for tensor, where in site.added}
            if _collected(solution, spot, added, on_host):
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
            unfixed="the program writes to the array, no longer to the tensor" if written
            else "the tensors are in a container; move them where they are collected",
        )  # fmt: skip
        if asks(solution, found) and not any(
            not each.callers_unknown and solution.evidence.is_there(each.node)
            for each in group.sites
        ):
            found = doubted(found, NOT_THERE)
        yield found


def _collected(
    solution: Solution, spot: Location, added: Collection[Location], on_host: Container[ast.AST]
) -> bool:
    """Tell whether a list is filled in one place of the code and only read on the host there.

    It has a name, or is an entry of a dict that has one and of which nothing else is known.
    """
    name, key = _held(spot.node)
    if not name or name in solution.programs.taken_from(spot.path):
        return False
    parents = solution.programs.parents(spot.path)
    uses: list[ast.Name] = []
    inside: set[ast.AST] = set()
    scope: ast.AST | None = spot.node
    while scope is not None and not any(isinstance(use.ctx, ast.Store) for use in uses):
        scope = parents.get(scope)
        while scope is not None and not isinstance(scope, _SCOPES):
            scope = parents.get(scope)
        if scope is not None:
            inside = set(syntax.walk(scope))
            uses = [n for n in inside if isinstance(n, ast.Name) and n.id == name]
            if any(isinstance(n, ast.Global) and name in n.names for n in inside):
                uses = uses if isinstance(scope, ast.Module) else []
    if scope is None or any(where.node not in inside for where in added):
        return False
    for where in added:
        match where.node:
            case ast.Subscript(value=ast.Attribute(attr="data"), slice=ast.Constant(value=0)):
                return False  # once a number
    return all(_only_collects(node, key, parents, on_host) for node in uses)


def _held(node: ast.AST) -> tuple[str, object]:
    """Return the name of a list, and its key in the dict of that name, or None."""
    match node:
        case ast.Name(id=name):
            return name, None
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str() as key)):
            return name, key
    return "", None


def _only_collects(
    name: ast.Name, key: object, parents: syntax.Parents, on_host: Container[ast.AST]
) -> bool:
    """Tell whether a use of a list's name fills it, begins it, or reads it on the host."""
    node: ast.AST = name
    at = parents.get(name)
    if key is not None and isinstance(at, ast.Subscript) and at.value is name:
        if isinstance(at.slice, ast.Constant) and at.slice.value != key:
            return True  # another list
        node, at = at, parents.get(at)
    elif key is not None:
        match at:
            case ast.Assign(value=ast.Dict(keys=keys, values=values)):
                begun = [v for k, v in zip(keys, values, strict=True) if _is_key(k, key)]
                return len(begun) == 1 and isinstance(begun[0], ast.List) and not begun[0].elts
        return False
    if node in on_host:
        return True
    match at:
        case ast.Attribute(attr="append"):
            return True
        case ast.Call(func=ast.Name(id="len")):
            return True
        case ast.Assign() | ast.Tuple() if _begins_empty(at, parents.get(at)):
            return True
        case ast.Subscript() if at in on_host:
            return True
    return False


def _is_key(node: ast.expr | None, key: object) -> bool:
    return isinstance(node, ast.Constant) and node.value == key


def _begins_empty(node: ast.AST, around: ast.AST | None) -> bool:
    """Tell whether a name is given an empty list: `a = []`, or in `a, b = [], []`."""
    match node:
        case ast.Assign(value=ast.List(elts=[])):
            return True
        case ast.Tuple():
            match around:
                case ast.Assign(targets=[target], value=ast.Tuple(elts=values)):
                    empty = (isinstance(value, ast.List) and not value.elts for value in values)
                    return target is node and all(empty)
    return False


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
