"""What a run saw of expressions of which the code says nothing.

An expression is known by its file, the definition that it is in, and its code without what moves
values: so a later text of the file, which was edited, has it under the same name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

#: What was seen of one value, as JSON's types; its first member says what it is (`prove.sights`).
Sight = list[Any]

_MOVES = frozenset(("to", "cuda", "cpu"))
_PLACES = frozenset(("device", "map_location"))
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Seen:
    """What was seen, file by file and expression by expression."""

    def __init__(self) -> None:
        self._sights: dict[str, dict[str, list[Sight]]] = {}
        self._names: dict[str, tuple[ast.AST, dict[ast.AST, str]]] = {}

    def add(self, path: str, name: str, sight: Sight) -> bool:
        """Keep what was seen of an expression; tell whether it is new."""
        known = self._sights.setdefault(path, {}).setdefault(name, [])
        if sight in known:
            return False
        known.append(sight)
        return True

    def of(self, path: str, tree: ast.AST | None, node: ast.AST) -> list[Sight]:
        """Return what was seen of an expression of a file."""
        names = self._sights.get(path)
        if not names or tree is None:
            return []
        known = self._names.get(path)
        if known is None or known[0] is not tree:
            known = self._names[path] = tree, dict(named(tree))
        return names.get(known[1].get(node, ""), [])

    def named_in(self, path: str) -> set[str]:
        """Return the files that what was seen in a file comes from, perhaps others among them."""
        names = self._sights.get(path, {})
        return set(_texts([sight for sights in names.values() for sight in sights]))

    def __len__(self) -> int:
        return sum(map(len, self._sights.values()))


def named(tree: ast.AST, home: str = "") -> Iterator[tuple[ast.AST, str]]:
    """Yield the expressions of a file, each with its name."""
    for node in ast.iter_child_nodes(tree):
        inside = f"{home}{node.name}." if isinstance(node, _DEFINITIONS) else home
        if isinstance(node, ast.expr):
            yield node, f"{home}:{code(node)}"
        yield from named(node, inside)


def code(node: Any) -> str:
    """Return the code of an expression without what moves its values, in a form of its own."""
    match node:
        case ast.Call(func=ast.Attribute(value=moved, attr=name)) if name in _MOVES:
            return code(moved)
        case ast.Call(func=ast.Name(id="move_to"), args=[moved, *_]):
            return code(moved)
        case ast.Call():
            said = [word for word in node.keywords if word.arg not in _PLACES]
            return f"{code(node.func)}({code(node.args)}{code(said)})"
        case ast.Name(id=name):
            return name
        case ast.Constant(value=value):
            return repr(value)
        case ast.Attribute(value=value, attr=attr):
            return f"{code(value)}.{attr}"
        case ast.AST():
            parts = "".join(code(part) for _, part in ast.iter_fields(node))
            return f"{type(node).__name__}({parts})"
        case list():
            return "".join(f"{code(part)}," for part in node)
    return str(node)


def place(node: Any) -> tuple[int, int, int, int]:
    """Return where an expression is, in its file."""
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _texts(sight: Sight) -> Iterator[str]:
    for part in sight:
        if isinstance(part, list):
            yield from _texts(part)
        elif isinstance(part, str):
            yield part


def renamed(sight: Sight, rename: Callable[[str], str]) -> Sight:
    """Return what was seen, with other names for files."""
    return [
        renamed(part, rename) if isinstance(part, list)
        else rename(part) if isinstance(part, str) and part.endswith((".py", ".pyw", ".ipynb"))
        else part
        for part in sight
    ]  # fmt: skip
