"""Where a tensor is, asked in words of CUDA: `x.get_device()`, `"cuda" if x.is_cuda else "cpu"`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import Edit, Finding, Fix
from samedevice.inference import Solution
from samedevice.inference.events import DeviceOf
from samedevice.inference.nodes import Location
from samedevice.inference.sites import Group
from samedevice.reading import syntax
from samedevice.rules._build import edit, finding, short
from samedevice.rules._implied import comes_with_cuda


def where_asked(solution: Solution, group: Group[DeviceOf], rule: str) -> Iterator[Finding]:
    """`device=x.get_device()` and `device="cuda" if x.is_cuda else "cpu"`: that of `x`."""
    spot = group.spot
    if not solution.is_meant(spot.node) or comes_with_cuda(solution, spot):
        return
    if group.first.device.text and solution.is_stored(spot.node):
        return  # a text stays a text
    uses = _uses(solution, spot) if group.first.device.number else {"places"}
    if "places" not in uses or "other" in uses:
        return  # a number that the code asks or counts with stays one, and -1 is the CPU's
    code = f"{ast.unparse(group.first.of)}.device"
    parent = solution.programs.parents(spot.path).get(spot.node)
    edits: tuple[Edit, ...] = (edit(solution, spot, "replace", code=code),)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
        place = Location(spot.path, parent)
        if parent.func.attr == "device":
            edits = (edit(solution, place, "replace", code=code),)
        elif parent.func.attr == "cuda":
            moved = edit(solution, place, "method", code=f".to({code})")
            edits = (edit(solution, place, "unwrap"), moved)
    yield finding(
        solution, rule, spot,
        f"`{short(solution.code(spot))}` is no other device than CUDA's, or the CPU",
        Fix(edits, erasure=rule) if "handed" not in uses else None,
        unfixed="code that is not known is handed the number, and may count with it",
    )  # fmt: skip


def _uses(solution: Solution, spot: Location) -> set[str]:
    """Return what is done with the number of a GPU: it `places` something, or `other` things.

    Also in the functions of the project that it is handed to; `handed` to what is not known.
    """
    home = solution.programs.function_of(spot)
    match solution.programs.parents(spot.path).get(spot.node):
        case ast.Assign(targets=[ast.Name(id=name)]) if home is not None:
            return _uses_of(solution, spot.path, home, name, frozenset())
        case ast.Assign() | ast.AnnAssign() | ast.NamedExpr():
            return {"other"}
    return _use(solution, spot.path, spot.node, frozenset())


def _uses_of(
    solution: Solution, path: str, home: ast.AST, name: str, seen: frozenset[tuple[ast.AST, str]]
) -> set[str]:
    """Return what a function does with one of its names."""
    if (home, name) in seen:
        return set()
    return set().union(
        *(
            _use(solution, path, node, seen | {(home, name)})
            for node in syntax.walk(home)
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        )
    )


def _use(
    solution: Solution, path: str, node: ast.AST, seen: frozenset[tuple[ast.AST, str]]
) -> set[str]:
    parents = solution.programs.parents(path)
    around = parents.get(node)
    match around:
        case ast.Call(func=ast.Attribute(attr="to" | "cuda" | "device"), args=[first, *_]) if (
            first is node
        ):
            return {"places"}
        case ast.keyword(arg="device" as keyword) | ast.keyword(arg=str(keyword)):
            call = parents.get(around)
        case ast.Call(args=args) if node in args:
            call, keyword = around, ""
        case _:
            return {"other"}
    functions = list(solution.functions_called(call)) if call is not None else []
    if not functions or not isinstance(call, ast.Call):
        return {"places"} if keyword == "device" else {"handed"}
    found: set[str] = set()
    for file, function in functions:
        given = keyword or _parameter(call, node, function)
        found |= _uses_of(solution, file, function, given, seen) if given else {"handed"}
    return found


def _parameter(
    call: ast.Call, given: ast.AST, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> str:
    """Return the parameter that an argument becomes, "" where that cannot be told."""
    if any(isinstance(arg, ast.Starred) for arg in call.args):
        return ""
    ordered = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    if ordered[:1] in (["self"], ["cls"]):
        ordered = ordered[1:]
    at = next(at for at, arg in enumerate(call.args) if arg is given)
    return ordered[at] if at < len(ordered) else ""
