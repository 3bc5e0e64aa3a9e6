"""Lists that a program fills with tensors and only reads on the CPU: each tensor is moved there.

A list has a name or is an attribute (`self.history`), or it is the entry of a dict that has or is
one (`history["loss"]`), of which nothing else is known.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Container, Iterator

from samedevice.inference import Solution
from samedevice.inference.graph import Location
from samedevice.reading import syntax

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)
_Owner = ast.Name | ast.Attribute


def collected(
    solution: Solution, spot: Location, added: Collection[Location], on_host: Container[ast.AST]
) -> bool:
    """Tell whether a list is filled in places of one scope, and only read on the host there."""
    owner, key = _held(spot.node)
    uses: list[tuple[_Owner, syntax.Parents]] = []
    match owner:
        case ast.Name(id=name) if name not in solution.programs.taken_from(spot.path):
            parents = solution.programs.parents(spot.path)
            inside = _scope_of(name, spot.node, parents)
            if any(where.node not in inside for where in added):
                return False
            uses = [(n, parents) for n in inside if isinstance(n, ast.Name) and n.id == name]
        case ast.Attribute(attr=attr):
            uses = list(_attributes(solution, spot.path, attr))
    for where in added:
        match where.node:
            case ast.Subscript(value=ast.Attribute(attr="data"), slice=ast.Constant(value=0)):
                return False  # once a number
    return bool(uses) and all(_only_collects(*use, key, on_host) for use in uses)


def _held(node: ast.AST) -> tuple[_Owner | None, object]:
    """Return the name or attribute of a list, and its key in the dict of that name, or None."""
    match node:
        case ast.Name() | ast.Attribute():
            return node, None
        case ast.Subscript(
            value=ast.Name() | ast.Attribute() as owner, slice=ast.Constant(value=str() as key)
        ):
            return owner, key
    return None, None


def _scope_of(name: str, node: ast.AST, parents: syntax.Parents) -> set[ast.AST]:
    """Return what is in the function or file that a name belongs to; nothing if it has none."""
    scope = parents.get(node)
    while scope is not None:
        if isinstance(scope, _SCOPES):
            inside = set(syntax.walk(scope))
            declared = any(isinstance(n, ast.Global) and name in n.names for n in inside)
            if (isinstance(scope, ast.Module) or not declared) and any(
                isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
                for n in inside
            ):
                return inside
        scope = parents.get(scope)
    return set()


def _attributes(
    solution: Solution, path: str, attr: str
) -> Iterator[tuple[ast.Attribute, syntax.Parents]]:
    """Yield the attributes of this name in a program, whatever has them."""
    for each in solution.programs.of(path):
        if attr in solution.project.sources[each].text:
            parents = solution.programs.parents(each)
            for node in syntax.walk(solution.programs.tree(each)):
                if isinstance(node, ast.Attribute) and node.attr == attr:
                    yield node, parents


def _only_collects(
    owner: _Owner, parents: syntax.Parents, key: object, on_host: Container[ast.AST]
) -> bool:
    """Tell whether a use of a list's owner fills the list, begins it, or reads it on the host."""
    node: ast.AST = owner
    at = parents.get(owner)
    if key is not None and isinstance(at, ast.Subscript) and at.value is owner:
        if isinstance(at.slice, ast.Constant) and at.slice.value != key:
            return True  # another list
        node, at = at, parents.get(at)
    elif key is not None:
        match at:
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                return value is not owner and _begins_dict(value, key)
        return False
    if node in on_host:
        return True
    match at:
        case ast.Attribute(attr="append" | "clear"):
            return True
        case ast.Call(func=ast.Name(id="len")):
            return True
        case ast.Assign() | ast.AnnAssign() | ast.Tuple() if _begins_empty(at, parents.get(at)):
            return True
        case ast.Subscript() if at in on_host:
            return True
    return False


def _begins_dict(value: ast.expr, key: object) -> bool:
    """Tell whether a dict is begun in which the list of a key is empty, or made when asked."""
    match value:
        case ast.Dict(keys=keys, values=values):
            begun = [v for k, v in zip(keys, values, strict=True) if _is_key(k, key)]
            return len(begun) == 1 and isinstance(begun[0], ast.List) and not begun[0].elts
        case ast.Call(func=func, args=[ast.Name(id="list")], keywords=[]):
            return syntax.dotted(func).rpartition(".")[2] == "defaultdict"
    return False


def _is_key(node: ast.expr | None, key: object) -> bool:
    return isinstance(node, ast.Constant) and node.value == key


def _begins_empty(node: ast.AST, around: ast.AST | None) -> bool:
    """Tell whether a name is given an empty list: `a = []`, or in `a, b = [], []`."""
    match node:
        case ast.Assign(value=ast.List(elts=[])) | ast.AnnAssign(value=ast.List(elts=[])):
            return True
        case ast.Tuple():
            match around:
                case ast.Assign(targets=[target], value=ast.Tuple(elts=values)):
                    empty = (isinstance(value, ast.List) and not value.elts for value in values)
                    return target is node and all(empty)
    return False
