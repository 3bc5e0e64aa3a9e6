"""Which functions of a file may run when something in it is named, by what stands in their bodies.

No values are followed: a name stands for the function or class that is defined by it at the top of
the file, and an attribute for every method of that name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from samedevice.reading import syntax

#: What runs when a class is called.
_BUILDING = frozenset({"__init__", "__new__", "__post_init__", "__init_subclass__"})
#: What runs when an instance is called, beside the methods with underscores.
_CALLED = frozenset({"forward"})

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, eq=False)
class Unit:
    """A function at the top of a file, or a method of a class there."""

    node: _Function
    owner: str = ""


class Callers:
    """What a file's names and attributes may call."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.units = list(_units(tree.body))
        self._by_name: dict[str, list[Unit]] = {}
        self._by_attribute: dict[str, list[Unit]] = {}
        for unit in self.units:
            name = unit.node.name
            if not unit.owner:
                self._by_name.setdefault(name, []).append(unit)
                continue
            self._by_attribute.setdefault(name, []).append(unit)
            if name in _BUILDING:
                self._by_name.setdefault(unit.owner, []).append(unit)
        self.implicit = [unit for unit in self.units if unit.owner and _is_implicit(unit.node.name)]
        self._imported = {
            alias.asname or alias.name.partition(".")[0]
            for node in syntax.walk(tree)
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for alias in node.names
        }
        self._defined = {unit.owner or unit.node.name for unit in self.units} | self._imported
        self._calls: dict[Unit, list[Unit]] = {}
        self._sets: dict[str, frozenset[str]] = {}
        self._bound: dict[ast.AST, set[str]] = {}
        self._mentioned: dict[Unit, set[str]] = {}
        self._reached: dict[tuple[Unit, ...], set[Unit]] = {}

    def by_name(self, name: str) -> list[Unit]:
        """Return what may run where a name is mentioned."""
        return self._by_name.get(name, [])

    def by_attribute(self, node: ast.Attribute) -> list[Unit]:
        """Return what may run where an attribute is mentioned: nothing for `torch.device`."""
        owner = node.value
        while isinstance(owner, ast.Attribute):
            owner = owner.value
        if isinstance(owner, ast.Name) and owner.id in self._imported:
            return []
        return self._by_attribute.get(node.attr, [])

    def is_value(self, func: ast.expr) -> bool:
        """Tell whether what is called is a value rather than something that a name stands for."""
        if isinstance(func, ast.Name):
            return func.id not in self._defined
        return not isinstance(func, ast.Attribute)

    def sets(self, name: str) -> frozenset[str]:
        """Return the global names that a function certainly sets."""
        if name not in self._sets:
            self._sets[name] = self._set_by(name)
        return self._sets[name]

    def bound_in(self, node: ast.AST) -> set[str]:
        """Return the names that a function or class binds for itself, its parameters included."""
        if node not in self._bound:
            self._bound[node] = bound_in(node)
        return self._bound[node]

    def mentioned(self, unit: Unit) -> set[str]:
        """Return all names that stand in a function."""
        if unit not in self._mentioned:
            nodes = syntax.walk(unit.node)
            self._mentioned[unit] = {node.id for node in nodes if isinstance(node, ast.Name)}
        return self._mentioned[unit]

    def _set_by(self, name: str) -> frozenset[str]:
        found: set[str] = set()
        for unit in self.by_name(name):
            told = {
                each for node in syntax.walk(unit.node) if isinstance(node, ast.Global)
                for each in node.names
            }  # fmt: skip
            for statement in unit.node.body:
                targets = statement.targets if isinstance(statement, ast.Assign) else []
                found |= {t.id for t in targets if isinstance(t, ast.Name)} & told
        return frozenset(found)

    def reached(self, units: Iterable[Unit]) -> set[Unit]:
        """Return functions and all that they may call."""
        start = tuple(units)
        if start not in self._reached:
            found: set[Unit] = set()
            queue = list(start)
            while queue:
                unit = queue.pop()
                if unit not in found:
                    found.add(unit)
                    queue += self._called_by(unit)
            self._reached[start] = found
        return self._reached[start]

    def _called_by(self, unit: Unit) -> list[Unit]:
        if unit not in self._calls:
            called: list[Unit] = []
            for node in syntax.walk(unit.node):
                if isinstance(node, ast.Name):
                    called += self.by_name(node.id)
                elif isinstance(node, ast.Attribute):
                    called += self.by_attribute(node)
                elif isinstance(node, (ast.For, ast.With)) or (
                    isinstance(node, ast.Call) and self.is_value(node.func)
                ):
                    called += self.implicit
            self._calls[unit] = called
        return self._calls[unit]


def _units(body: Iterable[ast.stmt]) -> Iterator[Unit]:
    """Return the functions and methods in a file's statements, also those under an `if`."""
    for node in body:
        if isinstance(node, _Function):
            yield Unit(node)
        elif isinstance(node, ast.ClassDef):
            for unit in _units(node.body):
                yield Unit(unit.node, unit.owner or node.name)
        else:
            for inner in syntax.children(node):
                if isinstance(inner, ast.stmt):
                    yield from _units([inner])
                elif isinstance(inner, (ast.ExceptHandler, ast.match_case)):
                    yield from _units(inner.body)


def _is_implicit(name: str) -> bool:
    dunder = name.startswith("__") and name.endswith("__") and name not in _BUILDING
    return dunder or name in _CALLED


def bound_in(node: ast.AST) -> set[str]:
    """Return the names that a function or class binds for itself, its parameters included."""
    bound: set[str] = set()
    elsewhere: set[str] = set()
    arguments = getattr(node, "args", None)
    if isinstance(arguments, ast.arguments):
        bound |= {part.arg for part in syntax.walk(arguments) if isinstance(part, ast.arg)}
    body = node.body if isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Module)) else []
    queue: list[ast.AST] = list(body)
    while queue:
        part = queue.pop()
        match part:
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                elsewhere.update(names)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                bound.add(name)
                queue += [*part.decorator_list, *part.args.defaults]
                continue
            case ast.ClassDef(name=name):
                bound.add(name)
                queue += [*part.decorator_list, *part.bases]
                continue
            case ast.Lambda():
                queue += part.args.defaults
                continue
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                bound |= _walruses(part)
                continue
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                bound.add(name)
            case ast.Import() | ast.ImportFrom():
                bound |= {alias.asname or alias.name.partition(".")[0] for alias in part.names}
            case ast.ExceptHandler(name=str(name)):
                bound.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                bound.add(name)
            case ast.MatchMapping(rest=str(name)):
                bound.add(name)
        queue += syntax.children(part)
    return bound - elsewhere


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _walruses(node: ast.AST) -> set[str]:
    """Return what a comprehension binds around itself."""
    return {
        part.target.id
        for part in syntax.walk(node)
        if isinstance(part, ast.NamedExpr) and isinstance(part.target, ast.Name)
    }
