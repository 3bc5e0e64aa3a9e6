"""Trees of Python compared: the first place at which two erased programs differ."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeVar

from samedevice.verify.device_words import DEVICE, INDEX_NAME, last_name

_Node = TypeVar("_Node", bound=ast.AST)


def like(node: _Node, **changes: object) -> _Node:
    """Return a copy of `node` with some of its fields changed."""
    fields = {**dict(ast.iter_fields(node)), **changes}
    return at(type(node)(**fields), node)


def at(new: _Node, node: ast.AST) -> _Node:
    """Give a new node the place of an old one, for messages."""
    return ast.copy_location(new, node)


# Fields that say nothing about what a program does.
_IGNORED = frozenset({"ctx", "type_comment", "kind", "type_ignores"})


def is_call_of(node: ast.AST, name: str) -> bool:
    """Tell whether a node calls something of this name."""
    return isinstance(node, ast.Call) and last_name(node.func) == name


def same(left: Sequence[ast.AST], right: Sequence[ast.AST]) -> bool:
    """Tell whether erased nodes are the same."""
    return _first_difference(list(left), list(right)) is None


def _is_device_or_index(one: ast.AST, other: ast.AST) -> bool:
    """Tell whether a device stands where the other program has one, too, or its index."""
    match one, other:
        case (ast.Name(id=name), ast.Constant(value=int(index))):
            return name == DEVICE and not isinstance(index, bool)
        case (ast.Name(id=name), ast.Name() | ast.Attribute()):
            return name == DEVICE and INDEX_NAME.match(last_name(other)) is not None
    return False


def _without_devices(args: list[ast.expr]) -> list[ast.expr]:
    return [arg for arg in args if not (isinstance(arg, ast.Name) and arg.id == DEVICE)]


def _first_difference(left: object, right: object) -> tuple[object, object] | None:
    """Return the innermost pair of nodes at which two trees first differ."""
    if isinstance(left, list) and isinstance(right, list):
        return _first_in_lists(left, right)
    if not isinstance(left, ast.AST) or not isinstance(right, ast.AST):
        equal = type(left) is type(right) and left == right
        return None if equal else (left, right)
    if _is_device_or_index(left, right) or _is_device_or_index(right, left):
        return None
    if type(left) is not type(right):
        return left, right
    for name in left._fields:
        if name in _IGNORED:
            continue
        if name == "args" and isinstance(left, ast.Call) and isinstance(right, ast.Call):
            found = _first_difference(left.args, right.args) and _first_difference(
                _without_devices(left.args), _without_devices(right.args)
            )
            if found is not None:
                return found
            continue
        found = _first_difference(getattr(left, name, None), getattr(right, name, None))
        if found is not None:
            return found if any(isinstance(each, ast.AST) for each in found) else (left, right)
    return None


def _first_in_lists(left: list[object], right: list[object]) -> tuple[object, object] | None:
    more = len(right) - len(left)
    for place, (one, other) in enumerate(zip(left, right, strict=False)):
        found = _first_difference(one, other)
        if found is None:
            continue
        if more > 0 and _first_difference(left[place:], right[place + more :]) is None:
            return None, other  # the rest is the same: this one was put in
        if more < 0 and _first_difference(left[place - more :], right[place:]) is None:
            return one, None
        return found
    if more == 0:
        return None
    return (None, right[len(left)]) if more > 0 else (left[len(right)], None)


def difference(before: ast.Module, after: ast.Module) -> str | None:
    """Describe the first difference of two erased trees, with its line."""
    found = _first_difference(before.body, after.body)
    if found is None:
        return None
    old, new = found
    line = getattr(new, "lineno", None) or getattr(old, "lineno", None)
    place = f"line {line}: " if line else ""
    if old is None:
        return f"{place}`{_code(new)}` is new"
    if new is None:
        return f"{place}`{_code(old)}` is gone"
    return f"{place}`{_code(old)}` became `{_code(new)}`"


def _code(node: object) -> str:
    """Return the first line of a node's code."""
    if not isinstance(node, ast.AST):
        return str(node)
    text = ast.unparse(ast.fix_missing_locations(node)).split("\n")[0]
    return text if len(text) <= 80 else f"{text[:77]}..."
