"""Tensors that say where a new one belongs: what it takes its type or its shape from, and what it
meets next."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice import torchfacts
from samedevice.inference import Solution
from samedevice.inference.nodes import Location
from samedevice.reading import syntax
from samedevice.repair.imports import Imports

#: Methods between a tensor that is made and the one that is meant.
_MOVES = frozenset(("cuda", "to", "type"))
#: Functions that take numbers beside tensors.
_OF_NUMBERS = frozenset(
    (
        "add", "atan2", "clamp", "copysign", "div", "divide", "eq", "float_power", "floor_divide",
        "fmod", "ge", "gt", "isclose", "isin", "ldexp", "le", "lerp", "lt", "mul", "multiply", "ne",
        "pow", "remainder", "rsub", "sub", "subtract", "true_divide", "where", "xlogy",
    )
)  # fmt: skip
_SHAPES = frozenset(("ndim", "new_zeros", "permute", "shape", "unsqueeze", "view"))


def described_by(node: ast.AST, around: ast.AST) -> Iterator[tuple[str, bool]]:
    """Yield the names that a creation takes its type or its shape from.

    And whether only a tensor can be what it is: torch takes no type of an array, and settings,
    which may have one, have no shape in the code `around`.
    """
    shaped = {
        part.value.id
        for part in syntax.walk(around)
        if isinstance(part, ast.Attribute)
        and part.attr in _SHAPES
        and isinstance(part.value, ast.Name)
    }
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr not in _MOVES:
            break
        node = node.func.value
    if not isinstance(node, ast.Call):
        return
    for part in (*node.keywords, *node.args):
        match part.value if isinstance(part, ast.keyword) else part:
            case ast.Attribute(value=ast.Name(id=name), attr="dtype"):
                typed = isinstance(part, ast.keyword) and part.arg == "dtype"
                yield name, typed and name in shaped
            case (
                ast.Attribute(value=ast.Name(id=name), attr="shape")
                | ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="size"))
                | ast.Starred(value=ast.Attribute(value=ast.Name(id=name), attr="shape"))
            ):
                yield name, False


def met_by(solution: Solution, spot: Location) -> Iterator[tuple[str, bool]]:
    """Yield the names that what is made at a place meets first, where it is used.

    And whether only a tensor can be what it is.
    """
    statement = solution.statement_of(spot)
    match statement:
        case ast.Assign(targets=[ast.Name(id=made)], value=value) if _is_chain(value, spot.node):
            pass
        case _:
            return
    names = _torch(solution.view(Imports), spot.path)
    bound: set[str] = set()  # too late: it is another value there, or none
    for later in solution.programs.parents(spot.path).behind(statement):
        said = [node for node in syntax.walk(later) if isinstance(node, ast.Name)]
        if any(node.id == made for node in said):
            for node in syntax.walk(later):
                for name, certain in _beside(node, made, names):
                    if name != made and name not in bound:
                        yield name, certain
            return
        bound |= {node.id for node in said if isinstance(node.ctx, ast.Store)}
        if not isinstance(later, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)):
            return  # another path may lead there


def _is_chain(value: ast.AST, made: ast.AST) -> bool:
    """Tell whether a value is what is made, and what its methods give."""
    while value is not made:
        if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)):
            return False
        value = value.func.value
    return True


def _torch(imports: Imports, path: str) -> dict[str, str]:
    """Return how a file calls torch and its functions of networks."""
    known = ("torch", "torch.nn.functional")
    return {alias: name for name in known if (alias := imports.alias(path, name))}


def _beside(node: ast.AST, made: str, names: dict[str, str]) -> Iterator[tuple[str, bool]]:
    """Yield the names that an operation has beside another one."""
    match node:
        case ast.Call(func=ast.Attribute(attr=attr) as func, args=args):
            fact = torchfacts.lookup(f"{names.get(syntax.dotted(func.value), '?')}.{attr}")
            given = [arg.id if isinstance(arg, ast.Name) else "" for arg in args]
            if fact is not None and made in given:
                for at, name in enumerate(given):
                    parameter = fact.parameter(at)
                    if name and parameter is not None and fact.must_agree(parameter):
                        yield name, attr not in _OF_NUMBERS
        case ast.BinOp(left=ast.Name(id=left), right=ast.Name(id=right)) if made in (left, right):
            yield right if left == made else left, False
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))], value=value):
            while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
                value = value.func.value
            if name == made and isinstance(value, ast.Name):
                yield value.id, False
