"""Which expressions are true with CUDA only: `device.type == "cuda"`, and what is made of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from samedevice.inference import Solution
from samedevice.inference.forced import numbered
from samedevice.inference.nodes import Location
from samedevice.reading import syntax

_AVAILABLE = re.compile(r"(\w+\.)?cuda\.is_available\(\)")
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
#: How many names and calls deep an answer is looked for.
_DEPTH = 6


def implies_cuda(
    solution: Solution, spot: Location, depth: int = _DEPTH, *, holds: bool = True
) -> bool:
    """Tell whether an expression is true with CUDA only, or never; or false, as `holds` says.

    What is true with any accelerator is taken for that: the CPU is what has nothing of CUDA's.
    """
    if not depth:
        return False

    def of(node: ast.expr, truth: bool = holds) -> bool:
        return implies_cuda(solution, Location(spot.path, node), depth - 1, holds=truth)

    match spot.node:
        case ast.Constant(value=value):
            return bool(value) is not holds
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return of(inner, not holds)
        case ast.BoolOp(op=op, values=values):
            one_is_enough = isinstance(op, ast.And) is holds
            return any(map(of, values)) if one_is_enough else all(map(of, values))
        case ast.Compare():
            return _names_cuda(spot.node, holds) or _is_not_cpu(spot.node, holds)
        case ast.Attribute(attr="is_cuda"):
            return holds
        case ast.Call(func=ast.Name(id="bool"), args=[inner]):
            return of(inner)
        case ast.Call():
            return holds and _call(solution, spot, spot.node, None, depth)
        case ast.Name() | ast.Attribute(value=ast.Name(id="self")) if holds:
            given = list(_values(solution, spot))
            if given:
                spots = [(Location(spot.path, value), index) for value, index in given]
                return all(
                    _value(solution, at, index, depth) or comes_with_cuda(solution, at, depth - 1)
                    for at, index in spots
                )
            handed = list(_handed(solution, spot))
            told = any(not isinstance(at.node, ast.Constant) for at in handed)
            return told and all(implies_cuda(solution, at, depth - 1) for at in handed)
    return False


def comes_with_cuda(solution: Solution, spot: Location, depth: int = _DEPTH) -> bool:
    """Tell whether code is reached with CUDA only, by the tests around it.

    Within its function: what calls that is not looked at.
    """
    parents = solution.programs.parents(spot.path)
    node = spot.node
    while not isinstance(node, (*_FUNCTION, ast.Lambda, ast.ClassDef)):
        outer = parents.get(node)
        if outer is None:
            return False
        if isinstance(outer, (ast.If, ast.IfExp)) and node is not outer.test:
            holds = node in outer.body if isinstance(outer, ast.If) else node is outer.body
            certain = _certain(outer.test, holds)
            if any(_grants(solution, spot.path, part, depth, truth) for part, truth in certain):
                return True
        node = outer
    return False


def never_the_cpu(solution: Solution, spot: Location, code: str) -> bool:
    """Tell whether a device's name is one for CUDA or XLA wherever it is bound: never the CPU's.

    A GPU by a number that is computed is one; a text that is written out may be repaired.
    """
    name = ast.parse(code, mode="eval").body
    given = list(_values(solution, spot, name))
    return bool(given) and all(index is None and _is_computed(value) for value, index in given)


def _is_computed(value: ast.expr) -> bool:
    """Tell whether an expression makes a device by the number of a GPU, or that of XLA."""
    match value:
        case ast.Call(func=func, args=[inner, *_]) if syntax.dotted(func).endswith("device"):
            return _is_computed(inner)
        case ast.Call(func=func):
            return syntax.dotted(func).rpartition(".")[2] == "xla_device"
    return numbered(value) is not None


def _certain(test: ast.expr, holds: bool) -> Iterator[tuple[ast.expr, bool]]:
    """Yield what is true or false for certain where a test is, with which of the two."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            yield from _certain(inner, not holds)
        case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) is holds:
            for value in values:
                yield from _certain(value, holds)
        case _:
            yield test, holds


def _grants(solution: Solution, path: str, test: ast.expr, depth: int, holds: bool) -> bool:
    """Tell whether a test holds with CUDA only; what is not None may be made with CUDA alone."""
    match test:
        case ast.Compare(
            left=ast.Name() | ast.Attribute() as made,
            ops=[ast.IsNot() | ast.Is() as compared],
            comparators=[ast.Constant(value=None)],
        ) if isinstance(compared, ast.IsNot) is holds:
            given = list(_values(solution, Location(path, made)))
            return bool(given) and all(
                index is None and _none_without(solution, path, value) for value, index in given
            )
    return implies_cuda(solution, Location(path, test), depth, holds=holds)


def _none_without(solution: Solution, path: str, value: ast.expr) -> bool:
    """Tell whether a value is None where there is no CUDA."""
    match value:
        case ast.Constant(value=None):
            return True
        case ast.IfExp(test=test, orelse=ast.Constant(value=None)):
            return implies_cuda(solution, Location(path, test))
        case ast.IfExp(test=test, body=ast.Constant(value=None)):
            return implies_cuda(solution, Location(path, test), holds=False)
    return False


def _value(solution: Solution, spot: Location, index: int | None, depth: int) -> bool:
    """Tell whether a value, or its part with a number, is true with CUDA only."""
    if index is None:
        return implies_cuda(solution, spot, depth - 1)
    match spot.node:
        case ast.Tuple(elts=parts) if index < len(parts):
            return implies_cuda(solution, Location(spot.path, parts[index]), depth - 1)
        case ast.Call() as call:
            return _call(solution, spot, call, index, depth)
    return False


def _call(
    solution: Solution, spot: Location, call: ast.Call, index: int | None, depth: int
) -> bool:
    if _AVAILABLE.fullmatch(ast.unparse(call)):
        return True
    if isinstance(call.func, ast.Attribute) and call.func.attr == "startswith":
        match call.args:
            case [ast.Constant(value=str(text))]:
                return text.startswith("cuda")
    found = _function(solution, spot.path, call.func)
    if found is None or depth < 2:
        return False
    path, function = found
    ends = [node for node in syntax.walk(function) if isinstance(node, ast.Return)]
    return bool(ends) and all(
        end.value is None
        or _value(solution, Location(path, end.value), index, depth)
        or _behind_refusal(solution, path, function, end, depth)
        for end in ends
    )


def _behind_refusal(
    solution: Solution, path: str, function: ast.AST, end: ast.stmt, depth: int
) -> bool:
    """Tell whether a statement stands behind `if device.type != "cuda": return` or its like."""
    parents = solution.programs.parents(path)
    node: ast.AST | None = end
    while node is not None and node is not function:
        outer = parents.get(node)
        for block in (getattr(outer, name, None) for name in ("body", "orelse")):
            if not isinstance(block, list) or node not in block:
                continue
            for before in block[: block.index(node)]:
                if isinstance(before, ast.If) and any(
                    implies_cuda(solution, Location(path, before.test), depth, holds=holds)
                    for holds, arm in ((False, before.body), (True, before.orelse))
                    if arm and isinstance(arm[-1], (ast.Return, ast.Raise))
                ):
                    return True
        node = outer
    return False


def _names_cuda(test: ast.Compare, holds: bool) -> bool:
    """Tell whether one thing is the name of CUDA where a comparison holds, or does not."""
    sides = [test.left, *test.comparators]
    operators = (ast.Eq, ast.Is, ast.In) if holds else (ast.NotEq, ast.IsNot, ast.NotIn)
    return (
        len(sides) == 2
        and isinstance(test.ops[0], operators)
        and any(
            isinstance(side, ast.Constant) and str(side.value).startswith("cuda") for side in sides
        )
    )


def _is_not_cpu(test: ast.Compare, holds: bool) -> bool:
    """Tell whether a device's type is not the CPU's where `device.type != "cpu"` holds, or not."""
    match test:
        case ast.Compare(
            left=ast.Attribute(attr="type"),
            ops=[operator],
            comparators=[ast.Constant(value="cpu")],
        ):
            return isinstance(operator, ast.NotEq if holds else ast.Eq)
    return False


def _handed(solution: Solution, spot: Location) -> Iterator[Location]:
    """Yield what callers hand in for a parameter that its function never binds anew.

    Nothing where a call is not followed, or the function is handed on.
    """
    function = solution.programs.function_of(spot)
    if not isinstance(spot.node, ast.Name) or function is None:
        return
    name, found = spot.node.id, list[Location]()
    if name not in syntax.parameters(function) or len(list(_stores(function, name))) != 1:
        return
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    if isinstance(solution.programs.parents(spot.path).get(function), ast.ClassDef):
        names = names[1:]
    default = syntax.defaults(function.args).get(name)
    for path in solution.programs.of(spot.path):
        tree = solution.programs.tree(path)
        calls = [
            call
            for call in syntax.calls(tree).get(function.name, ())
            if _function(solution, path, call.func) in (None, (spot.path, function))
        ]
        called = {call.func for call in calls}
        for use in syntax.uses(tree).get(function.name, ()):
            if use not in called and _function(solution, path, use) == (spot.path, function):
                return  # who gets it calls it with anything
        for call in calls:
            given = dict(zip(names, call.args, strict=False))
            given |= {each.arg or "": each.value for each in call.keywords}
            if "" in given or any(isinstance(each, ast.Starred) for each in call.args):
                return
            if name in given:
                found.append(Location(path, given[name]))
            elif default is not None:
                found.append(Location(spot.path, default))
            else:
                return
    yield from found


def _values(
    solution: Solution, spot: Location, named: ast.expr | None = None
) -> Iterator[tuple[ast.expr, int | None]]:
    """Yield all that a name or an attribute of `self` is assigned, and its number in a tuple.

    Nothing where it is bound in another way, too. Without `named` it is what stands at `spot`.
    """
    name = named or spot.node
    code = ast.unparse(name)
    parents = solution.programs.parents(spot.path)
    scope: ast.AST | None = parents.get(spot.node)
    wanted = _FUNCTION if isinstance(name, ast.Name) else (ast.ClassDef,)
    while scope is not None:
        if isinstance(scope, (*wanted, ast.Module)):
            stores = list(_stores(scope, code))
            if stores:
                known = [(value, index) for value, index in stores if value is not None]
                yield from known if len(known) == len(stores) else ()
                return
        scope = parents.get(scope)


def _stores(scope: ast.AST, code: str) -> Iterator[tuple[ast.expr | None, int | None]]:
    """Yield what binds a name or an attribute in a scope; None for a way that is not followed."""
    followed: set[int] = set()
    for node in syntax.walk(scope):
        match node:
            case (
                ast.Assign(targets=[target], value=value)
                | ast.AnnAssign(target=target, value=ast.expr() as value)
            ):
                parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
                for number, part in enumerate(parts):
                    if ast.unparse(part) == code:
                        followed.add(id(part))
                        yield value, number if part is not target else None
            case ast.arg(arg=name) if name == code:
                yield None, None
    for node in syntax.walk(scope):
        if isinstance(node, (ast.Name, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            if id(node) not in followed and ast.unparse(node) == code:
                yield None, None


def _function(
    solution: Solution, path: str, func: ast.expr
) -> tuple[str, ast.FunctionDef | ast.AsyncFunctionDef] | None:
    """Return the project's function that is called by its name, and its file."""
    if not isinstance(func, ast.Name):
        return None
    for node in solution.programs.tree(path).body:
        if isinstance(node, _FUNCTION) and node.name == func.id:
            return path, node
        if isinstance(node, ast.ImportFrom):
            home = solution.project.resolve(path, node.module or "", node.level)
            if home is None or home == path:
                continue
            named = {alias.asname or alias.name: alias.name for alias in node.names}
            for inner in solution.programs.tree(home).body if func.id in named else ():
                if isinstance(inner, _FUNCTION) and inner.name == named[func.id]:
                    return home, inner
    return None
