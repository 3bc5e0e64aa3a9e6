"""A parameter's default that names a device: what those get who leave it out."""

from __future__ import annotations

import ast
import re

from samedevice.finding import DeviceExpression, Edit, Fix, Import
from samedevice.inference import Solution
from samedevice.inference.nodes import Location
from samedevice.reading import syntax
from samedevice.repair import device_names, seen_calls
from samedevice.rules._build import edit, fix

#: Decorators that ask nothing of the signature; others may make a command line or a type of it.
_PLAIN = frozenset(
    ("staticmethod", "classmethod", "abstractmethod", "override", "overload", "contextmanager")
    + ("no_grad", "inference_mode", "enable_grad", "set_grad_enabled", "wraps", "cache")
)  # fmt: skip
_UNKNOWN = "what it is for those who give none is not known"
_ELSEWHERE = "the program chooses its device elsewhere, and not every call can say it"

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def without(solution: Solution, spot: Location, choice: Fix | None) -> tuple[Fix | None, str]:
    """Return the fix for the default at a place, or why there is none.

    Who leaves it out gets the device of a tensor that is handed in, or every call says the
    program's. For all others the function asks by `choice`, when it is called: a default that asks
    would do so when the file is imported, and None alone is no device.
    """
    parents = solution.programs.parents(spot.path)
    function = parents.get(parents.get(spot.node) or spot.node)
    if choice is None or not isinstance(function, _Function):
        return None, _UNKNOWN
    if not all(map(_leaves_signature, function.decorator_list)):
        return None, _UNKNOWN  # what it says is a script's types, or a command line
    parameter = _of(function.args, spot.node)
    if parameter is None:
        return None, _UNKNOWN
    none, names = _none(solution, spot, parameter), device_names(solution)
    policy = solution.policy
    chosen = policy.has_device(spot.path) or policy.managed(spot.path)
    if _only_a_device(function, parameter.arg):
        followed = seen_calls.followed(names, function)
        if followed:
            return fix(none, *_asking(solution, spot, function, parameter.arg, followed)), ""
        there = names.resolvers.existing(spot.path, solution.programs.of(spot.path))
        if chosen or there is not None:
            said = seen_calls.said(names, function, spot.path, parameter.arg)
            if there is not None and there.code.partition(".")[0] == parameter.arg:
                there = None  # the parameter hides it
            if there is not None and "." in there.code and not there.imports:
                # A module that is imported above has it by then.
                if all(each.get("value") == there.code for each in said):
                    return fix(there, edit(solution, spot, "replace", code=there.code)), ""
            if said and seen_calls.are_all(names, function):
                return Fix(tuple(said)), ""
            if said or there is not None:
                # Others may call it, too, and None is no device.
                asked = choice.edits[0].get("code").format(solution.code(spot))
                imports = choice.imports
                if there is not None:
                    asked, imports = there.code, there.imports
                edits = [*_asking(solution, spot, function, parameter.arg, asked), *said]
                return Fix((*edits, *none.edits), imports=(*imports, *none.imports)), ""
    if chosen:
        return None, _ELSEWHERE
    asked = choice.edits[0].get("code").format(solution.code(spot))
    edits = _asking(solution, spot, function, parameter.arg, asked)
    return Fix((*edits, *none.edits), imports=(*choice.imports, *none.imports)), ""


def is_unused(solution: Solution, spot: Location) -> bool:
    """Tell whether a place is a parameter's default that no call gets, or what nobody reads."""
    parents = solution.programs.parents(spot.path)
    if _is_unread(solution, spot):
        return True
    function = parents.get(parents.get(spot.node) or spot.node)
    if not isinstance(function, _Function):
        return False
    parameter = _of(function.args, spot.node)
    names = device_names(solution)
    return parameter is not None and seen_calls.is_always_given(names, function, parameter.arg)


def _is_unread(solution: Solution, spot: Location) -> bool:
    """Tell whether a function gives a name a device, and never reads it: a device asks for none."""
    parents = solution.programs.parents(spot.path)
    outer = parents.get(spot.node)
    if isinstance(outer, ast.Call) and syntax.dotted(outer.func).rpartition(".")[2] == "device":
        outer = parents.get(outer)
    home = solution.programs.function_of(spot)
    match outer:
        case ast.Assign(targets=[ast.Name(id=name)]) if home is not None:
            return not any(
                isinstance(node, ast.Name)
                and node.id == name
                and isinstance(node.ctx, ast.Load)
                or isinstance(node, ast.Global | ast.Nonlocal)
                or isinstance(node, ast.Name)
                and node.id in ("locals", "vars", "eval", "exec")
                for node in syntax.walk(home)
            )
    return False


def _of(spec: ast.arguments, default: ast.AST) -> ast.arg | None:
    """Return the parameter that a default belongs to."""
    named = {arg.arg: arg for arg in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
    given = syntax.defaults(spec).items()
    return next((named[name] for name, each in given if each is default), None)


def _asking(
    solution: Solution, spot: Location, function: _Function, name: str, code: str
) -> list[Edit]:
    """Return the edits that make a function ask for what it is not given."""
    head = f"if {name} is None:\n    {name} = {code}"
    return [
        edit(solution, spot, "replace", code="None"),
        edit(solution, Location(spot.path, function), "head", code=head),
    ]


def _none(solution: Solution, spot: Location, parameter: ast.arg) -> DeviceExpression:
    """Return what a parameter's type needs to say that it may be None."""
    type_ = parameter.annotation
    if type_ is None or re.search(r"\b(None|Optional|Any)\b", ast.unparse(type_)):
        return DeviceExpression("")
    place = Location(spot.path, type_)
    text = any(isinstance(part, ast.Constant) for part in ast.walk(type_))  # `"str" | None` fails
    if _writes_unions(solution.programs.tree(spot.path)) and not text:
        code = f"{solution.code(place)} | None"
        return DeviceExpression("", edits=(edit(solution, place, "replace", code=code),))
    typing = device_names(solution).imports.alias(spot.path, "typing")
    if typing:  # the file says where its types are from
        code = f"{typing}.Optional[{{}}]"
        return DeviceExpression("", edits=(edit(solution, place, "replace", code=code),))
    change = edit(solution, place, "replace", code="Optional[{}]")
    return DeviceExpression("", edits=(change,), imports=(Import(spot.path, "typing", "Optional"),))


@syntax.per_node
def _writes_unions(tree: ast.Module) -> bool:
    """Tell whether a file says `X | Y` for types, or can, and never `Optional` or `Union`."""
    types = [
        each
        for node in syntax.walk(tree)
        for each in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if isinstance(each, ast.expr)
    ]
    said = [part for each in types for part in ast.walk(each)]
    old = any(isinstance(part, ast.Name) and part.id in ("Optional", "Union") for part in said)
    for node in tree.body:
        match node:
            case ast.ImportFrom(module="__future__", names=[ast.alias(name="annotations"), *_]):
                return not old  # no type is evaluated
    return not old and any(
        isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitOr) for part in said
    )


def _only_a_device(function: ast.AST, name: str) -> bool:
    """Tell whether a parameter is only handed on or kept: nothing reads it as a text."""
    parents = {child: node for node in ast.walk(function) for child in ast.iter_child_nodes(node)}
    return all(
        isinstance(parents[node], (ast.Call, ast.keyword, ast.Assign))
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id == name
    )


def _leaves_signature(decorator: ast.expr) -> bool:
    """Tell whether a decorator asks nothing of the parameters of its function."""
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    return syntax.dotted(named).rpartition(".")[2] in _PLAIN
