"""See what some expressions give while a program runs.

The inference names the expressions of which it knows nothing. Their code is compiled with a call
around each, `samedevice_see(3, value)`, which returns the value; the files stay as they are. What
a value is, is told without keeping it: a function or class by its name, a tensor by its device, a
container by what is in it. Needs only the standard library.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib.machinery
import itertools
import json
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from samedevice.reading.seen import Sight, named, place

_SEE = "samedevice_see"
#: They ask for the frame that calls them, by their names.
_FRAMED = frozenset(("super", "locals", "globals", "vars", "dir", "eval", "exec"))
#: How often an expression tells, and how many members of a container, how deep.
_MOST, _MEMBERS, _DEEP = 64, 24, 4
#: Libraries whose values are no tensors: their arrays, images and tables.
_ARRAYS = frozenset(("numpy", "pandas", "PIL", "scipy", "polars"))
#: Where a function that says no module may be found.
_BUILTIN = (type(len), type(str.join))
_HOMES = ("torch", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special", "numpy")


class Sights:
    """Compiles the files of a copy so that some of their expressions tell."""

    def __init__(self, wanted: dict[str, list[list[int]]], tell: Callable[[str], None]) -> None:
        """`wanted`: for each file the places of expressions; what is seen goes to `tell`.

        That is the file, the expression's name, its place, and what it was: None for what there is
        no word for, which tells that it ran.
        """
        self._wanted = {path: {tuple(at) for at in places} for path, places in wanted.items()}
        self._tell = tell
        self._names: list[tuple[str, str, tuple[int, int, int, int]]] = []
        self._counts: list[int] = []

    def install(self) -> None:
        """Have what is imported from now on tell."""
        setattr(builtins, _SEE, self._see)
        loader: Any = importlib.machinery.SourceFileLoader
        usual = loader.source_to_code

        def source_to_code(one: Any, data: Any, path: Any, **options: Any) -> Any:
            if isinstance(data, bytes) and path in self._wanted:
                data = self.watched(ast.parse(data, path), path)
            return usual(one, data, path, **options)

        loader.source_to_code = source_to_code
        sys.dont_write_bytecode = True

    def watched(self, tree: Any, path: str) -> Any:
        """Return a file's tree in which the wanted expressions tell."""
        wanted = self._wanted.get(path)
        if not wanted:
            return tree
        names = {node: name for node, name in named(tree) if place(node) in wanted}
        return ast.fix_missing_locations(_Wrap(self, path, names).visit(tree))

    def number(self, path: str, name: str, node: ast.AST) -> int:
        """Return the number of one more expression."""
        self._names.append((path, name, place(node)))
        self._counts.append(0)
        return len(self._names) - 1

    def _see(self, number: int, value: Any) -> Any:
        if self._counts[number] < _MOST:
            self._counts[number] += 1
            with contextlib.suppress(Exception):  # whatever its attributes do: the program goes on
                self._tell(json.dumps([*self._names[number], sight_of(value)]))
        return value


class _Wrap(ast.NodeTransformer):
    def __init__(self, sights: Sights, path: str, names: dict[ast.AST, str]) -> None:
        self._sights = sights
        self._path = path
        self._names = names

    def visit(self, node: ast.AST) -> Any:
        """Visit a node; an expression that is wanted comes back with a call around it."""
        name = self._names.get(node)
        read = isinstance(getattr(node, "ctx", _LOAD), ast.Load)
        if name is None or not read or isinstance(node, (ast.Starred, ast.Slice)):
            return super().visit(node)
        number = self._sights.number(self._path, name, node)
        call = ast.Call(ast.Name(_SEE, _LOAD), [ast.Constant(number), super().visit(node)], [])
        return ast.copy_location(call, node)

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802
        """Leave the names of what looks at the frame that calls it."""
        kept = node.func if isinstance(node.func, ast.Name) and node.func.id in _FRAMED else None
        self.generic_visit(node)
        if kept is not None:
            node.func = kept
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:  # noqa: N802
        """Leave texts: before Python 3.12 the places in them are none of the file's."""
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """Leave annotations."""
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:  # noqa: N802
        """Leave the annotation."""
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        """Leave the pattern."""
        if node.guard is not None:
            node.guard = self.visit(node.guard)
        node.body = [self.visit(statement) for statement in node.body]
        return node


_LOAD = ast.Load()


def sight_of(value: Any, deep: int = 0) -> Sight | None:
    """Return what a value is, or None where there is no word for it."""
    torch = sys.modules.get("torch")
    if value is None:
        return ["none"]
    if isinstance(value, (bool, int, float, complex, str, bytes)):
        return ["scalar"]
    if isinstance(value, ModuleType):
        file = getattr(value, "__file__", None)
        return ["file", value.__name__, file or ""]
    if torch is not None and isinstance(value, torch.Tensor):
        trained = bool(value.is_leaf and value.requires_grad)
        return ["tensor", str(value.device.type), trained]
    if torch is not None and isinstance(value, torch.nn.Module):
        parts = (*value.parameters(), *value.buffers())
        return ["module", _class(type(value)), str(parts[0].device.type) if parts else ""]
    if isinstance(value, type) or callable(value) and hasattr(value, "__name__"):
        return _name_of(value)
    if isinstance(value, (list, tuple, dict)):
        return _container(value, deep) if deep < _DEEP else None
    if type(value).__module__.partition(".")[0] in _ARRAYS:
        return ["array"]
    return None


def _container(value: Any, deep: int) -> Sight | None:
    """Return what is in a container of Python's own."""
    kind = type(value)
    if kind is dict and len(value) <= _MEMBERS and all(type(key) in (str, int) for key in value):
        parts = [[key, sight_of(held, deep + 1)] for key, held in value.items()]
        return ["dict", parts]
    if kind is dict:
        some = [sight_of(held, deep + 1) for held in itertools.islice(value.values(), _MEMBERS)]
        return ["mapping", _different(some)]
    if kind not in (list, tuple):
        return None
    if kind is tuple and len(value) <= _MEMBERS:
        return ["tuple", [sight_of(held, deep + 1) for held in value]]
    return ["list", _different([sight_of(held, deep + 1) for held in value[:_MEMBERS]])]


def _different(sights: list[Sight | None]) -> list[Sight | None]:
    found: list[Sight | None] = []
    for sight in sights:
        if sight not in found:
            found.append(sight)
    return found


def _class(kind: type) -> Sight:
    """Return a module's class by its name, or the first one above it that is torch's."""
    for one in kind.__mro__:
        found = _name_of(one)
        if found is not None and (found[3] or found[1].startswith("torch.nn")):
            return found
    return ["name", "torch.nn", "Module", ""]


def _name_of(value: Any) -> Sight | None:
    """Return the name of a function or class: a module, the name in it, and the module's file."""
    name = getattr(value, "__qualname__", "")
    module = getattr(value, "__module__", None)
    if isinstance(value, _BUILTIN):
        name = value.__name__
        homes = (module, *_HOMES) if isinstance(module, str) else _HOMES
        home = next((one for one in homes if _has(one, name, value)), None)
        return None if home is None else ["name", home, name, ""]
    if not name or "<" in name or not isinstance(module, str) or hasattr(value, "__self__"):
        return None
    if "." not in name:  # the shortest name is the one that people write
        parts = module.split(".")
        outer = [".".join(parts[:end]) for end in range(1, len(parts))]
        shown = next((one for one in outer if _has(one, name, value)), module)
    else:
        shown = module
    return ["name", shown, name, getattr(sys.modules.get(module), "__file__", None) or ""]


def _has(module: str, name: str, value: Any) -> bool:
    return getattr(sys.modules.get(module), name, None) is value
