"""Operators of values whose classes say what they do: `__add__`, `__radd__`, `__contains__`, ..."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samedevice.inference import calls
from samedevice.inference.nodes import Location
from samedevice.inference.objects import Func, Instance, Scope
from samedevice.inference.values import Value

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: The special method of an operator, without its underscores.
_BINARY: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv",
    ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow", ast.MatMult: "matmul",
    ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "lshift",
    ast.RShift: "rshift",
}  # fmt: skip
_UNARY: dict[type[ast.AST], str] = {
    ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__",
}  # fmt: skip
#: Of a comparison: its method, and the one of the right operand that stands for it.
_COMPARED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Eq: ("__eq__", "__eq__"), ast.NotEq: ("__ne__", "__ne__"), ast.Lt: ("__lt__", "__gt__"),
    ast.LtE: ("__le__", "__ge__"), ast.Gt: ("__gt__", "__lt__"), ast.GtE: ("__ge__", "__le__"),
}  # fmt: skip


def binary(
    run: Interpreter, op: ast.operator, left: Value, right: Value, spot: Location, scope: Scope,
    *, in_place: bool = False,
) -> Value | None:  # fmt: skip
    """Return what `left op right` gives, if the class of one of them says so, or None."""
    name = _BINARY[type(op)]
    if in_place:
        result = called(run, left, f"__i{name}__", [right], spot, scope)
        if result is not None:
            return result
    result = called(run, left, f"__{name}__", [right], spot, scope)
    if result is not None:
        return result
    return called(run, right, f"__r{name}__", [left], spot, scope)


def unary(
    run: Interpreter, op: ast.unaryop, operand: Value, spot: Location, scope: Scope
) -> Value | None:
    """Return what `-operand` and its like give, if its class says so, or None."""
    name = _UNARY.get(type(op))
    return called(run, operand, name, [], spot, scope) if name is not None else None


def compared(
    run: Interpreter, op: ast.cmpop, left: Value, right: Value, spot: Location, scope: Scope
) -> Value | None:
    """Return what a comparison gives, if the class of one of the values says so, or None."""
    if isinstance(op, (ast.In, ast.NotIn)):
        return called(run, right, "__contains__", [left], spot, scope)
    names = _COMPARED.get(type(op))
    if names is None:
        return None
    result = called(run, left, names[0], [right], spot, scope)
    return result if result is not None else called(run, right, names[1], [left], spot, scope)


def called(
    run: Interpreter, owner: Value, name: str, args: list[Value], spot: Location, scope: Scope
) -> Value | None:
    """Return what a special method of the project's gives, or None where there is none."""
    if not isinstance(owner, Instance) or owner.cls is None:
        return None
    if not isinstance(owner.cls.lookup(name), Func):
        return None
    return calls.method(run, owner, name, scope, spot.node, *args)
