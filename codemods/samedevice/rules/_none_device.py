"""Parameters for a device that may be None, and what their functions make of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from samedevice.inference import Solution
from samedevice.inference.events import Built, Creation
from samedevice.inference.nodes import Location
from samedevice.inference.objects import Instance, Scope
from samedevice.inference.values import Device
from samedevice.reading import syntax

_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Unresolved(NamedTuple):
    """A use of a parameter that may be None, and the name that holds what it stands for then."""

    spot: Location
    resolved: str


def unresolved(solution: Solution) -> dict[ast.AST, Unresolved]:
    """Return where code moves to such a parameter, or creates there, behind the name for it.

    `self.device = device or resolver()` above `x.to(device)`: where callers leave it out, nothing
    moves.
    """
    return {
        use.spot.node: use
        for path in solution.programs.files()
        if solution.judges(path) and not solution.policy.managed(path)
        for node in syntax.statements(solution.programs.tree(path))
        if isinstance(node, _Function)
        for parameter, (line, code) in _resolved(node).items()
        if solution.is_left_out(node, parameter)
        for use in _uses(solution, path, node, parameter, line, code)
    }


def goes_nowhere(solution: Solution, spot: Location) -> bool:
    """Tell whether what is made at a place is moved to such a parameter at once."""
    parents = solution.programs.parents(spot.path)
    method = parents.get(solution.chain_end(spot).node)
    call = parents.get(method) if isinstance(method, ast.Attribute) else None
    return (
        isinstance(call, ast.Call)
        and call.func is method
        and any(given in solution.view(unresolved) for given in call.args)
    )


@syntax.per_node
def _resolved(function: _Function) -> dict[str, tuple[int, str]]:
    """Return the parameters that are None by default and for which a statement puts something in
    a name of its own, with its last line and that name."""
    defaults = syntax.defaults(function.args)
    absent = {
        name
        for name, value in defaults.items()
        if isinstance(value, ast.Constant) and value.value is None
    }
    if not absent:  # most functions: an editor asks all of a file with each key
        return {}
    stored = [
        ast.unparse(node)
        for node in syntax.walk(function)
        if isinstance(getattr(node, "ctx", None), ast.Store)
        and isinstance(node, (ast.Name, ast.Attribute))
    ]
    found: dict[str, tuple[int, str]] = {}
    for statement in syntax.in_order(function.body) if absent - set(stored) else ():
        target, parameter = _chosen(statement, absent - set(stored))
        if target and stored.count(target) == 1 + isinstance(statement, ast.If):
            found.setdefault(parameter, (statement.end_lineno or statement.lineno, target))
    return found


def _chosen(statement: ast.stmt, absent: set[str]) -> tuple[str, str]:
    """Return what a statement puts in the place of a parameter that is None, and the parameter."""
    match statement:
        case ast.Assign(
            targets=[target], value=ast.BoolOp(op=ast.Or(), values=[ast.Name(id=name), other])
        ):
            arms = [other]
        case ast.Assign(targets=[target], value=ast.IfExp(test=test, body=body, orelse=orelse)):
            name, arms = _asked(test), [body, orelse]
        case ast.If(
            test=test,
            body=[ast.Assign(targets=[target], value=body)],
            orelse=[ast.Assign(targets=[other], value=orelse)],
        ) if ast.unparse(target) == ast.unparse(other):
            name, arms = _asked(test), [body, orelse]
        case _:
            return "", ""
    others = [arm for arm in arms if name not in _names(arm)]
    named = isinstance(target, (ast.Name, ast.Attribute)) and name in absent
    if not named or len(others) != 1 or isinstance(others[0], ast.Constant):
        return "", ""
    return ast.unparse(target), name


def _names(code: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(code) if isinstance(node, ast.Name)}


def _asked(test: ast.expr) -> str:
    """Return the name that a test asks for None: `x`, `not x`, `x is None`, or ""."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name)) | ast.Name(id=name):
            return name
        case ast.Compare(left=ast.Name(id=name), comparators=[ast.Constant(value=None)]):
            return name
    return ""


def _uses(
    solution: Solution, path: str, function: _Function, parameter: str, line: int, code: str
) -> Iterator[Unresolved]:
    parents = solution.programs.parents(path)
    for call in syntax.walk(function):
        if not isinstance(call, ast.Call) or call.lineno <= line:
            continue
        given = _device_of(solution, call)
        if not isinstance(given, ast.Name) or given.id != parameter:
            continue
        spot = Location(path, given)
        scope = solution.scope_at(spot)
        held = scope is not None and scope.func is not None and scope.func.node is function
        if held and not _is_tested(parents, given, function, parameter):
            assert scope is not None
            if _is_there(solution, scope, code):
                yield Unresolved(spot, code)


def _device_of(solution: Solution, call: ast.Call) -> ast.expr | None:
    """Return where a call moves something to, or creates it, if None says nowhere there."""
    named = next((k.value for k in call.keywords if k.arg == "device"), None)
    if isinstance(call.func, ast.Attribute) and call.func.attr == "to":
        return call.args[0] if call.args else named
    made = [site for group in solution.groups_at(Built, call) for site in group.sites]
    of_torch = bool(made) and all(site.module.cls is None for site in made)
    return named if of_torch or solution.groups_at(Creation, call) else None


def _is_tested(parents: syntax.Parents, node: ast.AST, function: _Function, parameter: str) -> bool:
    """Tell whether a branch that a use is in asks about the parameter."""
    outer = parents.get(node)
    while outer is not None and outer is not function:
        if isinstance(outer, (ast.If, ast.IfExp, ast.While)) and parameter in _names(outer.test):
            return True
        outer = parents.get(outer)
    return False


def _is_there(solution: Solution, scope: Scope, code: str) -> bool:
    """Tell whether a name in a function holds the device."""
    first, _, attr = code.partition(".")
    value = scope.names.get(first)
    if attr:
        value = value.attrs.get(attr) if isinstance(value, Instance) else None
    return isinstance(value, Device) and solution.on_device(value.node)
