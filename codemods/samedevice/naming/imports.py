"""How a file names what it imports, and how it can import another file of the project."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator

from samedevice import syntax
from samedevice.finding import Import
from samedevice.places import Solution
from samedevice.places.objects import Ext


class Imports:
    """The names of libraries and modules in a project's files."""

    def __init__(self, solution: Solution) -> None:
        self.project = solution.project
        self.interpreter = solution.interpreter
        self.programs = solution.programs
        self._taken: dict[str, set[str]] = {}
        self._libraries: dict[str, list[tuple[str, str]]] = {}
        self._modules: dict[tuple[str, str], str | None] = {}
        self._relative: dict[frozenset[str], bool] = {}

    def alias(self, path: str, name: str) -> str:
        """Return how a file calls the library `name`, or an empty string."""
        names = self._libraries.get(path)
        if names is None:
            scope = self.interpreter.files.get(path)
            names = self._libraries[path] = [
                (bound, value.name)
                for bound, value in (scope.names if scope is not None else {}).items()
                if isinstance(value, Ext)
            ]
        for bound, known in names:
            if known == name:
                return bound
        for bound, known in names:
            if name.startswith(known + "."):
                return bound + name[len(known) :]
        return ""

    def torch(self, path: str) -> tuple[str, tuple[Import, ...]]:
        """Return torch's name in a file and the import that it needs, or "" where it is taken."""
        alias = self.alias(path, "torch")
        if alias or self.free_name(path, "torch") != "torch":
            return alias, ()
        return "torch", (Import(path, "torch"),)

    def is_free(self, path: str, name: str) -> bool:
        """Tell whether a file binds no such name."""
        if name not in self.project.sources[path].text:
            return True
        taken = self._taken.get(path)
        if taken is None:
            taken = self._taken[path] = _bound_names(self.programs.tree(path))
        return name not in taken

    def free_name(self, path: str, wanted: str) -> str:
        """Return a name that the file uses for nothing else."""
        for name in (wanted, f"torch_{wanted}", f"central_{wanted}"):
            if self.is_free(path, name):
                return name
        return f"samedevice_{wanted}"

    def module_name(self, path: str, target: str) -> str | None:
        """Return how a file of the project imports another one; None if that cannot be told."""
        if (path, target) not in self._modules:
            self._modules[path, target] = self._find_module_name(path, target)
        return self._modules[path, target]

    def _find_module_name(self, path: str, target: str) -> str | None:
        folder = posixpath.dirname(posixpath.normpath(path))
        place = posixpath.splitext(posixpath.normpath(target))[0]
        shown = list(self._roots(path))
        if self.project.is_package(path) and folder not in shown:
            program = self.programs.of(path)
            if program not in self._relative:
                self._relative[program] = any(
                    isinstance(node, ast.ImportFrom) and node.level
                    for other in program
                    for node in self.programs.tree(other).body
                )
            if self._relative[program]:
                dots, base = 1, folder
                while base and not place.startswith(base + "/"):
                    base = posixpath.dirname(base)
                    dots += 1
                if base and self.project.is_package(base + "/module"):
                    return "." * dots + place[len(base) + 1 :].replace("/", ".")
                # Above the package no relative import reaches it, but the scripts' imports may.
                scripts = list(self._entries(path))
                if all(posixpath.dirname(other) in self._roots(other) for other in scripts):
                    shown += [posixpath.dirname(other) for other in scripts]
                return next((_below(place, root) for root in shown if _is_in(place, root)), None)
            base = folder
            while base and posixpath.join(base, "__init__.py") in self.project.sources:
                base = posixpath.dirname(base)
            if _is_in(place, base):
                return _below(place, base)
        # A script's own folder is on the path, and whatever its imports show to be there.
        for root in (folder, *shown, *(posixpath.dirname(other) for other in self._entries(path))):
            if _is_in(place, root):
                return _below(place, root)
        return None

    def _roots(self, path: str) -> Iterator[str]:
        """The folders on the module path, by the absolute imports of a file that work."""
        for node in syntax.statements(self.programs.tree(path)):
            names: list[str] = []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                found = self.project.resolve(path, name)
                if found is None:
                    continue
                place = posixpath.splitext(posixpath.normpath(found))[0]
                place = place.removesuffix("/__init__")
                dotted = name.replace(".", "/")
                if place == dotted:
                    yield ""
                elif place.endswith("/" + dotted):
                    yield place[: -len(dotted) - 1]

    def _entries(self, path: str) -> Iterator[str]:
        """The scripts that import this file: their folders are on the path when it runs."""
        for other in sorted(self.programs.of(path)):
            if path in self.programs.reached_from(other) and not self.programs.is_imported(other):
                if posixpath.basename(other) != "__init__.py":
                    yield posixpath.normpath(other)


def _is_in(place: str, folder: str) -> bool:
    """Tell whether a file is in a folder, or below it."""
    return not folder or place.startswith(folder + "/")


def _below(place: str, folder: str) -> str:
    """Return the name of a module whose top folder is on the module path."""
    return (place[len(folder) + 1 :] if folder else place).replace("/", ".")


def _bound_names(tree: ast.Module) -> set[str]:
    """Return the names that a file binds."""
    defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    found = {node.name for node in tree.body if isinstance(node, defined)}
    for node in syntax.walk(tree):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).split(".")[0])
    return found
