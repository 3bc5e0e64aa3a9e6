"""Attempts at CUDA: a `try` that is a test, as what it tries fails on a machine without it.

One whose handlers only report an error is none: there CUDA is needed within it as anywhere.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from samedevice.reading import syntax

#: What torch raises where there is no CUDA, and what these are kinds of.
_RAISED = frozenset(("AssertionError", "BaseException", "Exception", "RuntimeError"))
#: What is caught where something else went wrong, as far as the names of errors say.
_OTHER = re.compile(r"\w*(Interrupt|Import|NotFound|Key|Index|Attribute|OS|IO|Type|Value|EOF|File"
                    r"|Memory|Timeout|Stop|Decode|Module|Zero|Name)\w*")  # fmt: skip
_ABOUT = re.compile(r"cuda|gpu|device|accelerator|nvml|nvidia|nvtx|nccl", re.IGNORECASE)
_SAYING = frozenset(
    ("critical", "debug", "error", "exception", "exit", "format", "info", "log", "print",
     "print_exc", "str", "warn", "warning", "write")
)  # fmt: skip


def is_fallback(node: ast.Try) -> bool:
    """Tell whether something is tried on the device, with the CPU to fall back on."""
    return any(
        isinstance(part, ast.Constant) and part.value == "cpu"
        for handler in node.handlers
        for part in syntax.walk_all(handler.body)
    )


@syntax.per_node
def is_probe(node: ast.Try) -> bool:
    """Tell whether a `try` tests for CUDA.

    It catches what torch raises, and its handlers fall back on the CPU or do what was tried in
    another way, or nothing but CUDA is tried.
    """
    catching = [handler for handler in node.handlers if _catches(handler.type)]
    if not catching:
        return False
    if is_fallback(node) or all(map(_asks, _simple(node.body))):
        return True
    again = {name for handler in catching for name in _calls(handler.body)}
    return not again.isdisjoint(_calls(node.body))


@syntax.per_node
def answer_without(node: ast.Try) -> tuple[str, bool] | None:
    """Return what a test by trying says where there is no CUDA, and the name that it gives to it.

    Each handler sets the same name to the same truth, or returns it: that has no name.
    """
    answers = {_answer(handler.body) for handler in node.handlers}
    found = answers.pop() if len(answers) == 1 else None
    return found if is_probe(node) else None


def _answer(body: list[ast.stmt]) -> tuple[str, bool] | None:
    match [each for each in body if not _says(each)]:
        case [ast.Return(value=ast.Constant(value=bool() as held))]:
            return "", held
        case [ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=bool() as held))]:
            return name, held
    return None


@syntax.per_node
def shows_error(node: ast.Try) -> bool:
    """Tell whether a `try` computes what nobody uses, and its handlers say how that went wrong.

    So a lesson shows what tensors of two devices do not allow.
    """
    body = [each for each in syntax.certain(node.body) if not isinstance(each, ast.Pass)]
    match [each for each in body if not syntax.goes_on(each)]:
        case [ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[made]))]:
            pass
        case [ast.Expr(value=made)]:
            pass
        case _:
            return False
    return (
        bool(node.handlers)
        and not node.orelse
        and all(_catches(each.type) or _is_type_error(each.type) for each in node.handlers)
        and all(map(_only_says, node.handlers))
        and _is_plain(made)
    )


def _is_type_error(kind: ast.expr | None) -> bool:
    return isinstance(kind, ast.Name) and kind.id == "TypeError"


def _only_says(handler: ast.ExceptHandler) -> bool:
    return all(isinstance(each, ast.Pass) or _says(each) for each in handler.body)


def _says(node: ast.stmt) -> bool:
    called = node.value if isinstance(node, ast.Expr) else None
    return isinstance(called, ast.Call) and _last(called) in _SAYING


def _is_plain(node: ast.expr) -> bool:
    """Tell whether an expression computes with names alone, and by no function of the program."""
    match node:
        case ast.BinOp(left=left, right=right):
            return _is_operand(left) and _is_operand(right)
        case ast.Call(func=ast.Attribute(value=owner, attr="numpy" | "tolist" | "__array__")):
            return _is_operand(owner)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "numpy" | "torch")), args=args):
            return all(map(_is_operand, args))
    return False


def _is_operand(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Constant)) or _is_plain(node)


def _catches(kind: ast.expr | None) -> bool:
    """Tell whether a handler catches what torch raises without CUDA, as far as names say."""
    if kind is None:
        return True
    if isinstance(kind, ast.Tuple):
        return any(map(_catches, kind.elts))
    name = syntax.dotted(kind).rpartition(".")[2]
    return name in _RAISED or _OTHER.fullmatch(name) is None


def _simple(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """Yield the simple statements of a block, and what the heads of others evaluate."""
    for node in body:
        inner = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.stmt)]
        if inner:
            yield from (n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr))
            yield from _simple(inner)
        else:
            yield node


def _asks(node: ast.AST) -> bool:
    """Tell whether some code is about CUDA, or does nothing that could be in need of it."""
    if _ABOUT.search(ast.unparse(node)):
        return True
    parts = list(ast.walk(node))
    calls = {_last(part) for part in parts if isinstance(part, ast.Call)}
    return calls <= _SAYING and not any(isinstance(part, ast.Await | ast.Yield) for part in parts)


def _calls(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield what some statements call, but what only says something, or is there for a block."""
    parts = syntax.walk_all(list(body))
    contexts = {part.context_expr for part in parts if isinstance(part, ast.withitem)}
    for part in parts:
        if isinstance(part, ast.Call) and part not in contexts and _last(part) not in _SAYING:
            yield ast.unparse(part.func)


def _last(call: ast.Call) -> str:
    func = call.func
    return func.attr if isinstance(func, ast.Attribute) else syntax.dotted(func)
