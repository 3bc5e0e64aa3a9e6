"""Attempts at CUDA: a `try` that is a test, as what it tries fails on a machine without it.

One whose handlers only report an error is none: there CUDA is needed within it as anywhere.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from samedevice.inference import demands
from samedevice.reading import syntax

#: What torch raises where there is no CUDA, and what these are kinds of.
_RAISED = frozenset(("AssertionError", "BaseException", "Exception", "RuntimeError"))
#: What is caught where something else went wrong, as far as the names of errors say.
_OTHER = re.compile(r"\w*(Interrupt|Import|NotFound|Key|Index|Attribute|OS|IO|Type|Value|EOF|File"
                    r"|Memory|Timeout|Stop|Decode|Module|Zero|Name)\w*")  # fmt: skip
_ABOUT = re.compile(r"cuda|gpu|device|accelerator|nvml|nvidia|nvtx|nccl", re.IGNORECASE)
#: What fails on a machine without CUDA.
_NEEDED = re.compile(
    r"\.cuda\(|['\"]cuda(:\d+)?['\"]|torch\.cuda\.(?!is_|device_count|manual_|\w+Tensor\b)\w+\("
    r"|torch\.cuda\.\w+Tensor\("
)
_MOVES = re.compile(r"\.(?:cpu|cuda)(?:\(\)|$)")
_EXPECTING = frozenset(("raises", "assertRaises", "assertRaisesRegex"))
_SAYING = frozenset(
    ("critical", "debug", "error", "exception", "exit", "format", "info", "log", "print",
     "print_exc", "str", "warn", "warning", "write")
)  # fmt: skip


def is_fallback(node: ast.Try) -> bool:
    """Tell whether something is tried on the device, with the CPU to fall back on.

    A handler names the CPU, or does what was tried with what it takes there: `model.cpu()(x)`.
    """
    tried = {_on_cpu(name) for name in _calls(node.body) if not _MOVES.search(name[-5:])}
    for handler in node.handlers:
        parts = syntax.walk_all(handler.body)
        if any(isinstance(part, ast.Constant) and part.value == "cpu" for part in parts):
            return True
        called = set(_calls(handler.body))
        if (
            _catches(handler.type)
            and any(name.endswith(".cpu") for name in called)
            and not any(isinstance(part, ast.Raise) for part in parts)
            and not tried.isdisjoint(map(_on_cpu, called))
        ):
            return True
    return False


def _on_cpu(called: str) -> str:
    """Return what is called, without moves: `model` for `model.cpu()` and `model.cuda()`."""
    return _MOVES.sub("", called)


@syntax.per_node
def expects_refusal(node: ast.With | ast.AsyncWith) -> bool:
    """Tell whether a test wants its block to fail for want of CUDA: `pytest.raises(...)`.

    It names what torch raises then, or a message about it.
    """
    for item in node.items:
        match item.context_expr:
            case ast.Call(func=func, args=[kind, *others], keywords=keywords) if (
                syntax.dotted(func).rpartition(".")[2] in _EXPECTING
            ):
                said = [part for each in (*others, *keywords) for part in ast.walk(each)]
                texts = [part.value for part in said if isinstance(part, ast.Constant)]
                if "AssertionError" in ast.unparse(kind) or any(
                    isinstance(text, str) and _ABOUT.search(text) for text in texts
                ):
                    return True
    return False


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
def answer(node: ast.Try) -> bool | None:
    """Return what a function answers where a `try` says that CUDA does not work, or None."""
    answers = {demands.answer(handler.body) for handler in node.handlers}
    return answers.pop() if len(answers) == 1 and _tries_cuda(node) else None


@dataclass(frozen=True)
class Flag:
    """What says after a `try` whether CUDA works, and what it is if it does.

    `is_set`: the `try` sets it in both cases; else it had that value before.
    """

    target: ast.expr
    works: bool
    is_set: bool


@syntax.per_node
def flags(node: ast.Try) -> tuple[Flag, ...]:
    """Return what a `try` for CUDA, and all its handlers, set to say how it went."""
    if not _tries_cuda(node):
        return ()
    well = _set([*node.body, *node.orelse])
    first, *others = [_set(handler.body) for handler in node.handlers]
    return tuple(
        Flag(target, not without, is_set=code in well)
        for code, (target, without) in first.items()
        if all(code in other and other[code][1] is without for other in others)
        if code not in well or well[code][1] is not without
    )


def _set(body: list[ast.stmt]) -> dict[str, tuple[ast.expr, bool]]:
    """Return the names and attributes that a block sets to True or False."""
    found: dict[str, tuple[ast.expr, bool]] = {}
    for each in syntax.certain(body):
        match each:
            case ast.Assign(
                targets=[ast.Name() | ast.Attribute(value=ast.Name()) as target],
                value=ast.Constant(value=bool() as says),
            ):
                found[ast.unparse(target)] = target, says
    return found


def _tries_cuda(node: ast.Try) -> bool:
    """Tell whether a `try` does nothing but to ask CUDA for something, and catches its errors.

    It calls torch alone, and methods of what torch made there.
    """
    if not all(_catches(handler.type) for handler in node.handlers):
        return False
    made = {
        name.id
        for part in syntax.walk_all(node.body)
        if isinstance(part, ast.Assign)
        for name in ast.walk(part)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    }
    for part in syntax.walk_all(node.body):
        if isinstance(part, ast.Call) and _last(part) not in _SAYING:
            if _root(part.func) not in {"torch", *made}:
                return False
    return any(_NEEDED.search(ast.unparse(each)) for each in _simple(node.body))


def _root(node: ast.expr) -> str:
    """Return the name that attributes and calls begin with, "" for none."""
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


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
    return all(
        isinstance(each, ast.Pass)
        or isinstance(each, ast.Expr)
        and isinstance(each.value, ast.Call)
        and _last(each.value) in _SAYING
        for each in handler.body
    )


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
