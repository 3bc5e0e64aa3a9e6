"""Give the operands of a failed statement their names in the user's code. Needs torch.

torch's message says "cuda:0 and cpu", not whose. The frames of the traceback still hold the
tensors, so the names and attributes of the failed expression are looked up there. Nothing of the
program runs for it: no property, no `__getattr__`, no call.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import ModuleType, TracebackType
from typing import Any

import torch

from samedevice.prove.clash import Party
from samedevice.prove.lives import Lives

_MOST = 8  # operands; a list of a thousand tensors is no help
_LONGEST = 60  # characters of code that still are a name
_VIEWS = frozenset({"T", "mT", "H", "mH", "data", "real", "imag"})
_missing = object()


def parties(trace: TracebackType, lives: Lives) -> tuple[Party, ...]:
    """Return the tensors, modules and generators in the failed expression of a frame.

    First those that it names; then, for devices that none of them is on, those of the refused
    operation, which are results of a part of it.
    """
    node = failed_node(trace)
    if isinstance(node, ast.Expr):
        node = node.value
    found: list[Party] = []
    seen: set[int] = set()
    for chain in _chains(node) if node is not None else ():
        value = _value(chain, trace)
        if value is not _missing and id(value) not in seen:
            seen.add(id(value))
            while isinstance(chain, (ast.Attribute, ast.Subscript)) and (
                _value(chain.value, trace) is value  # `x.view` and `x[0]` mean x
            ):
                chain = chain.value
            found += _parties(ast.unparse(chain), value, lives)
    devices = {party.device for party in found}
    unnamed = [tensor for tensor in lives.refused if str(tensor.device) not in devices]
    names = _results(node) if node is not None else []
    for place, tensor in enumerate(unnamed):
        # a sum's operands are in their order; of anything else only a single one is known
        known = len(names) == len(unnamed) and (len(names) == 1 or isinstance(node, ast.BinOp))
        found += _parties(names[place] if known else "", tensor, lives)
    return tuple(found[:_MOST])


def sides(trace: TracebackType, lives: Lives) -> tuple[Party, ...]:
    """Return the two sides of a failed sum, product or the like, as far as they have no name."""
    node = failed_node(trace)
    found: list[Party] = []
    if isinstance(node, ast.BinOp) and len(lives.refused) == 2:
        for side, tensor in zip((node.left, node.right), lives.refused, strict=True):
            if not _is_chain(side):
                found += _parties(ast.unparse(side), tensor, lives)
    return tuple(found)


def _results(node: ast.AST) -> list[str]:
    """Return the code of the operands of an expression that are results and have no name."""
    match node:
        case ast.BinOp(left=left, right=right):
            operands: list[ast.expr] = [left, right]
        case ast.Compare(left=left, comparators=others):
            operands = [left, *others]
        case ast.Call(func=function, args=arguments, keywords=keywords):
            operands = [*arguments, *(keyword.value for keyword in keywords)]
            if isinstance(function, ast.Attribute):
                operands.append(function.value)
        case _:
            return []
    results = [
        ast.unparse(one)
        for one in operands
        if not isinstance(one, (ast.Constant, ast.Starred)) and not _is_chain(one)
    ]
    return [code if len(code) <= _LONGEST else "" for code in results]


def failed_node(trace: TracebackType) -> ast.AST | None:
    """Return the expression (Python 3.11 and later) or the statement that a frame was in."""
    lines = linecache.getlines(trace.tb_frame.f_code.co_filename)
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    where = position(trace)
    best: ast.stmt | None = None
    for node in ast.walk(tree):
        if not isinstance(node, (ast.expr, ast.stmt)):
            continue
        if (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset) == where:
            return node
        if (
            isinstance(node, ast.stmt)
            and node.lineno <= trace.tb_lineno <= _last_line(node)
            and (best is None or node.lineno >= best.lineno)
        ):
            best = node
    return best


def position(trace: TracebackType) -> tuple[int, int, int, int] | None:
    """Return first and last line, first and last column (UTF-8 bytes) of a frame's instruction."""
    code = trace.tb_frame.f_code
    if trace.tb_lasti < 0 or not hasattr(code, "co_positions"):
        return None
    for index, where in enumerate(code.co_positions()):
        if index == trace.tb_lasti // 2:
            return None if None in where else where
    return None


def _last_line(node: ast.stmt) -> int:
    """Return the last line of a statement's own: a compound statement's header."""
    body = getattr(node, "body", None)
    if isinstance(body, list) and body:
        return max(node.lineno, int(body[0].lineno) - 1)
    return node.end_lineno or node.lineno


def _chains(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the longest chains of names, attributes and plain subscripts in reading order."""
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and _is_chain(node):
        yield node
        for inner in ast.walk(node):  # x and index in `x[index].sum`
            if isinstance(inner, ast.Subscript) and isinstance(inner.slice, ast.Name):
                yield inner.slice
        return
    if isinstance(node, ast.stmt) and isinstance(getattr(node, "body", None), list):
        children: list[ast.AST] = [  # a compound statement failed in its header
            child
            for name, value in ast.iter_fields(node)
            if name not in {"body", "orelse", "finalbody", "handlers", "decorator_list"}
            for child in (value if isinstance(value, list) else [value])
            if isinstance(child, ast.AST)
        ]
    else:
        children = list(ast.iter_child_nodes(node))
    for child in children:
        yield from _chains(child)


def _is_chain(node: ast.expr) -> bool:
    match node:
        case ast.Name():
            return True
        case ast.Attribute(value=value):
            return _is_chain(value)
        case ast.Subscript(value=value, slice=ast.Constant() | ast.Name()):
            return _is_chain(value)
    return False


def _value(node: ast.expr, trace: TracebackType) -> Any:
    frame = trace.tb_frame
    match node:
        case ast.Name(id=name):
            if name in frame.f_locals:
                return frame.f_locals[name]
            return frame.f_globals.get(name, _missing)
        case ast.Attribute(value=inner, attr=name):
            return _attribute(_value(inner, trace), name)
        case ast.Subscript(value=inner, slice=index):
            holder = _value(inner, trace)
            if isinstance(holder, torch.Tensor):
                return holder  # a part of it is where it is
            key = index.value if isinstance(index, ast.Constant) else _value(index, trace)
            if type(holder) in (list, tuple, dict) and isinstance(key, (int, str)):
                try:
                    return holder[key]
                except (LookupError, TypeError):
                    return _missing
    return _missing


def _attribute(holder: Any, name: str) -> Any:
    if isinstance(holder, torch.Tensor):
        if name in _VIEWS:
            return holder
        if name == "grad" and holder.grad is not None:
            return holder.grad
        # A method's receiver: x in `x.view(2)`. A parameter's own attribute is no receiver.
        return holder if callable(getattr(torch.Tensor, name, None)) else _missing
    if isinstance(holder, torch.nn.Module):
        for members in (holder._parameters, holder._buffers, holder._modules):
            if name in members:
                return members[name]
    if isinstance(holder, ModuleType):
        return vars(holder).get(name, _missing)
    if isinstance(holder, tuple) and name in getattr(holder, "_fields", ()):
        return holder[holder._fields.index(name)]  # type: ignore[attr-defined]
    own = getattr(holder, "__dict__", {})
    if name in own:
        return own[name]
    if callable(getattr(type(holder), name, None)):
        return holder if isinstance(holder, torch.nn.Module) else _missing
    return _missing


def _parties(expression: str, value: Any, lives: Lives) -> Iterator[Party]:
    if isinstance(value, torch.Tensor):
        what = "parameter" if isinstance(value, torch.nn.Parameter) else "tensor"
        shape = ", ".join(map(str, value.shape))
        dtype = str(value.dtype).removeprefix("torch.")
        yield Party(expression, str(value.device), f"{what} ({shape}) {dtype}", lives.steps(value))
    elif isinstance(value, torch.nn.Module):
        yield from _module_parties(expression, value, lives)
    elif isinstance(value, torch.Generator):
        yield Party(expression, str(value.device), "generator")
    elif type(value) in (list, tuple):
        yield from _member_parties(expression, enumerate(value), lives)
    elif type(value) is dict:
        yield from _member_parties(expression, value.items(), lives)


def _member_parties(
    expression: str, members: Iterable[tuple[Any, Any]], lives: Lives
) -> Iterator[Party]:
    """Yield one party for each device that tensors of a list or dict are on: the first there."""
    by_device: dict[str, list[tuple[Any, torch.Tensor]]] = {}
    for key, item in members:
        if isinstance(item, torch.Tensor):
            by_device.setdefault(str(item.device), []).append((key, item))
    for there in by_device.values():
        key, tensor = there[0]
        for party in _parties(f"{expression}[{key!r}]", tensor, lives):
            more = f", and {len(there) - 1} more there" if len(there) > 1 else ""
            yield replace(party, what=party.what + more)


def _module_parties(
    expression: str,
    module: torch.nn.Module,
    lives: Lives,
) -> Iterator[Party]:
    """Yield one party for each device that the module's own tensors are on."""
    by_device: dict[str, list[tuple[str, torch.Tensor]]] = {}
    for members in (module.named_parameters(), module.named_buffers()):
        for name, tensor in members:
            by_device.setdefault(str(tensor.device), []).append((name, tensor))
    kind = type(module).__name__
    for device, members_there in by_device.items():
        name, tensor = members_there[0]
        if len(by_device) == 1:
            count = len(members_there)
            held = "1 parameter or buffer" if count == 1 else f"{count} parameters and buffers"
            what = f"{kind} with {held}"
            yield Party(expression, device, what, lives.steps(tensor))
        else:
            others = len(members_there) - 1
            what = f"of {kind}" + (f", and {others} more there" if others else "")
            yield Party(f"{expression}.{name}", device, what, lives.steps(tensor))
