"""The function that moves a batch of any structure: the project's own, or one that is written."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from samedevice.finding import DeviceExpression, Resolver
from samedevice.inference import Solution
from samedevice.inference.movers import LIBRARY, Kind, Mover, Structure, mover
from samedevice.inference.nodes import Location
from samedevice.inference.objects import External, Func
from samedevice.inference.values import Value
from samedevice.repair.imports import Imports
from samedevice.repair.resolvers import Resolvers

#: What it may be called: names by which readers know such functions.
_NAMES = ("move_to", "to_device", "move_batch_to")


__all__ = ["BatchMovers", "MoverName", "Structure"]


@dataclass(frozen=True)
class MoverName:
    """How a file calls a function that moves batches, and what brings it there."""

    code: str
    resolvers: tuple[Resolver, ...]


class BatchMovers:
    """The functions of a program that move batches; a new one lives where the device does."""

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        self.project = solution.project
        self.programs = solution.programs
        self.imports = solution.view(Imports)
        self.resolvers = solution.view(Resolvers)

    def named(
        self, spot: Location, structures: Iterable[Structure], device: DeviceExpression
    ) -> MoverName | None:
        """Return the function to call behind a statement for batches of these structures.

        None where every name for one is taken.
        """
        path, line = spot.path, self.solution.span(spot).line
        kinds = frozenset[Kind]().union(*(each.kinds for each in structures))
        rest = any(each.rest for each in structures)

        def moves(value: Value) -> bool:
            known = _known(value)
            return known is not None and kinds <= known.kinds and (known.rest or not rest)

        for name, value in self._names(path):
            if moves(value) and (
                not isinstance(value, Func)
                or value.scope.path != path
                or (value.node.end_lineno or 0) < line
            ):
                return MoverName(name, (Resolver(path, name, moves=True),))
        for other in sorted(self.programs.of(path) - {path}):
            for name, value in self._names(other):
                if not (isinstance(value, Func) and value.scope.path == other and moves(value)):
                    continue
                module = self.imports.module_name(path, other)
                if module is None or not self.imports.is_free(path, name):
                    continue
                if self.resolvers.lends(other, name, path):
                    return MoverName(name, (Resolver(path, name, module, moves=True),))
        return self._written(path, device)

    def _names(self, path: str) -> Iterator[tuple[str, Value]]:
        scope = self.solution.interpreter.files.get(path)
        yield from scope.names.items() if scope is not None else ()

    def _written(self, path: str, device: DeviceExpression) -> MoverName | None:
        """Return the name of a new function, which is defined beside the device."""
        home = self._home(path, device)
        paths = [path] if home is None else [path, home]
        name = next((n for n in _NAMES if all(self.imports.is_free(p, n) for p in paths)), None)
        if name is None:
            return None
        planned = device.resolvers or self._planned(path, home)
        for resolver in planned:
            if resolver.module is not None:
                made = Resolver(path, name, resolver.module, resolver.module_path, moves=True)
                return MoverName(name, (made,))
        if home is None:
            return MoverName(name, (Resolver(path, name, moves=True),))
        module = self.imports.module_name(path, home)
        if module is None:
            return None
        there = Resolver(home, name, moves=True)
        return MoverName(name, (there, Resolver(path, name, module, moves=True)))

    def _planned(self, path: str, home: str | None) -> tuple[Resolver, ...]:
        """Return the definition that a file would have for the device if it had to name it."""
        name = self.resolvers.resolver(path) if home is None else None
        return name.resolvers if name is not None else ()

    def _home(self, path: str, device: DeviceExpression) -> str | None:
        """Return the other file of the project that a file has its device from, if it has."""
        for needed in device.imports:
            if needed.name == device.code:
                return self.project.resolve(path, needed.module)
        tree = self.project.tree(path)
        for node in tree.body if tree is not None else ():
            if isinstance(node, ast.ImportFrom) and any(
                (alias.asname or alias.name) == device.code for alias in node.names
            ):
                home = self.project.resolve(path, node.module or "", node.level)
                return home if home in self.project.sources else None
        return None


def _known(value: Value) -> Mover | None:
    if isinstance(value, External):
        return LIBRARY.get(value.name)
    if isinstance(value, Func) and value.bound is None and value.cls is None:
        return mover(value.node) if value.scope.func is None else None
    return None
