"""Demands for CUDA: statements that do nothing but end a program on a machine without it.

One that says why is meant: what comes after it needs no other device. One that says nothing may
only be there because a later call would fail.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from samedevice.reading import syntax

_AVAILABLE = re.compile(r"(\w+\.)?(cuda\.)?is_available\(\)")
_EXIT = re.compile(r"(sys\.|os\.)?_?exit|quit|pytest\.(skip|fail|exit)|self\.(skipTest|fail)")
_SAYING = frozenset(("print", "warn", "warning", "error", "critical", "info", "exception", "write"))
#: What a description of a function says that needs CUDA.
_NEEDED = re.compile(
    r"(requires?|needs?|demands?|assumes?)\b[^.]*\b(cuda|gpus?)\b|\b(cuda|gpus?)\b[^.]*"
    r"\b(required|needed|only|necessary)\b",
    re.IGNORECASE,
)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_demand(node: ast.AST) -> bool:
    """Tell whether a statement ends the program without CUDA, and does nothing else."""
    match node:
        case ast.Assert(test=ast.Call() as test):
            return _asks(test)
        case ast.If(test=ast.UnaryOp(op=ast.Not(), operand=test), body=body, orelse=[]):
            done = [each for each in syntax.in_order(body) if not isinstance(each, ast.Pass)]
            return _asks(test) and any(map(_stops, done[-1:])) and all(map(_says, done[:-1]))
    return False


def says_why(node: ast.stmt, function: ast.AST | None) -> bool:
    """Tell whether a demand has a message, or its function's docstring says what it needs."""
    if isinstance(function, _Function) and _NEEDED.search(ast.get_docstring(function) or ""):
        return True
    if isinstance(node, ast.Assert):
        return node.msg is not None
    parts = [part for each in getattr(node, "body", ()) for part in syntax.walk(each)]
    return any(
        isinstance(part, ast.JoinedStr)
        or isinstance(part, ast.Constant)
        and isinstance(part.value, str)
        for part in parts
    )


def believed(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the demands of a file that say why they are made."""
    queue: list[tuple[ast.AST, ast.AST | None]] = [(tree, None)]
    while queue:
        outer, function = queue.pop()
        inside = outer if isinstance(outer, _Function) else function
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            for node in getattr(outer, field, ()) if not isinstance(outer, ast.expr) else ():
                if isinstance(node, ast.stmt) and is_demand(node) and says_why(node, inside):
                    yield node
                else:
                    queue.append((node, inside))


def leaves(body: list[ast.stmt]) -> bool:
    """Tell whether control never reaches the code after a block."""
    ends = (ast.Return, ast.Raise, ast.Continue, ast.Break)
    return any(isinstance(each, ends) or _stops(each) for each in syntax.in_order(body))


def answer(body: list[ast.stmt]) -> bool | None:
    """Return what a block that ends a function answers: True or False, None for anything else."""
    match body[-1:]:
        case [ast.Return(value=ast.Constant(value=bool() as given))]:
            return given
    return None


def _asks(test: ast.expr) -> bool:
    return _AVAILABLE.fullmatch(ast.unparse(test)) is not None


def _stops(node: ast.stmt) -> bool:
    match node:
        case ast.Raise():
            return True
        case ast.Expr(value=ast.Call(func=func)):
            return _EXIT.fullmatch(ast.unparse(func)) is not None
    return False


def _says(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name))):
            return name in _SAYING
    return False
