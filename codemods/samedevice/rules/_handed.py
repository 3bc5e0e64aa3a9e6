"""Devices that are handed to functions: what these do with them, and how an argument says one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import DeviceExpression
from samedevice.inference import Solution
from samedevice.inference.events import Loaded
from samedevice.inference.nodes import Location
from samedevice.reading import syntax
from samedevice.rules._build import argument


def is_compared(solution: Solution, spot: Location) -> bool:
    """Tell whether a device is only named to compare another one with it: it decides no place."""
    parents = solution.programs.parents(spot.path)
    node = parents.get(spot.node)
    made = spot
    while isinstance(node, (ast.Call, ast.Attribute)):
        if isinstance(node, ast.Call) and not ast.unparse(node.func).endswith("device"):
            return _only_asked(solution, made)
        made = Location(spot.path, node)
        node = parents.get(node)
    return isinstance(node, ast.Compare)


def _only_asked(solution: Solution, spot: Location) -> bool:
    """Tell whether a device is handed to functions that only ask for its type, and move nothing."""
    given = list(_given_to(solution, spot))
    return bool(given) and all(_asks_only(function, name) for function, name in given)


def _asks_only(function: ast.FunctionDef, name: str) -> bool:
    parents = syntax.parents(function)
    for node in syntax.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(attr="to" | "cuda")) | ast.keyword(arg="device"):
                return False
    uses = [n for n in syntax.walk(function) if isinstance(n, ast.Name) and n.id == name]
    return bool(uses) and all(
        isinstance(around := parents.get(use), ast.Compare)
        or isinstance(around, ast.Attribute)
        and around.attr in ("type", "index")
        for use in uses
    )


def as_argument(solution: Solution, spot: Location, name: DeviceExpression) -> str:
    """Return the code for a device that is written out, which may be an argument of a call."""
    parents = solution.programs.parents(spot.path)
    outer = parents.get(spot.node)
    call = parents.get(outer) if isinstance(outer, ast.keyword) else outer
    loads = solution.groups_at(Loaded, call) if call is not None else ()
    if not name.text and any(group.first.fact.device for group in loads):
        return f"str({name.code})"  # safetensors knows devices by their names alone
    match outer:
        case ast.keyword(arg=str(parameter)) as given:
            call = parents.get(given)
            return argument(solution, call, parameter, name) if call is not None else name.code
        case ast.Call(args=args) as call if spot.node in args:
            names = {parameter for _, parameter in _given_to(solution, spot)}
            if len(names) == 1:
                return argument(solution, call, names.pop(), name)
    return name.code


def is_counted(solution: Solution, spot: Location) -> bool:
    """Tell whether a number is not only a device: one of a list, or what a callee compares."""
    node = spot.node
    if not (isinstance(node, ast.Constant) and type(node.value) is int):
        return False
    parents = solution.programs.parents(spot.path)
    if isinstance(parents.get(node), (ast.List, ast.Tuple)):
        return True
    return any(_compares(function, name) for function, name in _given_to(solution, spot))


def _given_to(solution: Solution, spot: Location) -> Iterator[tuple[ast.FunctionDef, str]]:
    """Yield the functions of the program that an argument may be given to, by the called name, each
    with its parameter."""
    parents = solution.programs.parents(spot.path)
    parent = parents.get(spot.node)
    call = parents.get(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call):
        return
    called = ast.unparse(call.func).rpartition(".")[2]
    for path in solution.programs.of(spot.path):
        for function in syntax.walk(solution.project.tree(path) or ast.Module([], [])):
            if isinstance(function, ast.FunctionDef) and function.name == called:
                given = [each.arg for each in function.args.args]
                given = given[1:] if given[:1] == ["self"] else given
                if isinstance(parent, ast.keyword):
                    yield function, parent.arg or ""
                elif spot.node in call.args[: len(given)]:
                    yield function, given[call.args.index(spot.node)]


def sets_it(solution: Solution, spot: Location, name: DeviceExpression) -> bool:
    """Tell whether a method is given what its object has under the name from then on: `self.device`
    in `self.use("cuda")` says only what it was before."""
    owner, _, attr = name.code.rpartition(".")
    parents = solution.programs.parents(spot.path)
    parent = parents.get(spot.node)
    match parents.get(parent) if isinstance(parent, ast.keyword) else parent:
        case ast.Call(func=ast.Attribute(value=receiver)) if owner == ast.unparse(receiver):
            pass
        case _:
            return False
    return any(
        isinstance(node, ast.Assign)
        and any(isinstance(to, ast.Attribute) and to.attr == attr for to in node.targets)
        and any(isinstance(part, ast.Name) and part.id == given for part in ast.walk(node.value))
        for function, given in _given_to(solution, spot)
        for node in syntax.walk(function)
    )


def _compares(function: ast.FunctionDef, name: str) -> bool:
    """Tell whether a function compares a parameter with something, or computes with it."""
    return any(
        isinstance(part, ast.Name) and part.id == name
        for node in syntax.walk(function)
        if isinstance(node, (ast.Compare, ast.BinOp, ast.JoinedStr))
        for part in ast.walk(node)
    )
