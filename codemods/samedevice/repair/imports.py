"""How a file names what it imports, and how it can import another file of the project."""

from __future__ import annotations

import ast
import posixpath

from samedevice.finding import Import
from samedevice.inference import Solution
from samedevice.inference.objects import External
from samedevice.reading import syntax
from samedevice.repair.importable import Importable

#: What a function does that moves something, or reads a file that may have been on a device.
_COMPUTING = frozenset(("cuda", "to", "type"))


class Imports:
    """The names of libraries and modules in a project's files."""

    def __init__(self, solution: Solution) -> None:
        self.project = solution.project
        self.interpreter = solution.interpreter
        self.programs = solution.programs
        self._taken: dict[str, set[str]] = {}
        self._libraries: dict[str, list[tuple[str, str]]] = {}
        self._importable = Importable(self.project)

    def alias(self, path: str, name: str) -> str:
        """Return how a file calls the library `name`, or an empty string."""
        names = self._libraries.get(path)
        if names is None:
            scope = self.interpreter.files.get(path)
            names = self._libraries[path] = [
                (bound, value.name)
                for bound, value in (scope.names if scope is not None else {}).items()
                if isinstance(value, External)
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

    def is_local(self, path: str, name: str) -> bool:
        """Tell whether only functions of a file have a name, each for a value of its own, and
        compute nothing with torch before they bind it.

        The file may have it for another value then: each place means one of them.
        """
        return _is_local(self.programs.tree(path), name)

    def own_names(self, path: str) -> set[str]:
        """Return the names that a file's own statements give a value."""
        return _assigned(self.programs.tree(path))

    def free_name(self, path: str, wanted: str) -> str:
        """Return a name that the file uses for nothing else."""
        for name in (wanted, f"torch_{wanted}", f"central_{wanted}"):
            if self.is_free(path, name):
                return name
        return f"samedevice_{wanted}"

    def module_name(self, path: str, target: str) -> str | None:
        """Return how a file of the project imports another one; None if that cannot be told."""
        return self._importable.module_name(path, target)

    def root(self, folder: str) -> str:
        """Return the folder in which a module for some files of a folder belongs: there, or where
        they are named from."""
        if self.project.is_package(posixpath.join(folder, "module")):
            return folder
        root = self._importable.root(folder)
        return folder if root is None else root

    def held_as(self, path: str, target: str) -> str:
        """Return the name by which a file has another one, as a module, from its first statements
        on; "" where it has not."""
        resolve, found = self.project.resolve, set[str]()
        for node in self.programs.tree(path).body:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if resolve(path, alias.name) == target:
                        found.add(alias.asname or alias.name)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    inner = f"{node.module or ''}.{alias.name}".lstrip(".")
                    if resolve(path, inner, node.level) == target:
                        found.add(alias.asname or alias.name)
        bound = self.own_names(path)
        return min((name for name in found if name.partition(".")[0] not in bound), default="")

    def is_installed(self, path: str) -> bool:
        """Tell whether a file is a part of a package that others install, and import."""
        return self._importable.is_installed(path)


@syntax.per_node
def _assigned(tree: ast.Module) -> set[str]:
    """Return the names that the statements at the top of a file assign."""
    return {
        target.id
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }


def _is_local(tree: ast.Module, name: str) -> bool:
    inside: set[ast.AST] = set()
    for home in syntax.walk(tree):
        if not isinstance(home, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        nodes = syntax.walk(home)
        if any(
            isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names for node in nodes
        ):
            return False
        lines = [n.lineno for n in nodes if isinstance(n, ast.Name) and n.id == name
                 and isinstance(n.ctx, ast.Store)]  # fmt: skip
        if name in syntax.parameters(home):
            inside |= set(nodes)
            continue
        binding = [s for s in syntax.certain(home.body) if s.lineno in lines]
        bound = {statement.lineno for statement in binding}
        if not bound:
            continue
        if any(map(_names_device, binding)):
            return False
        before = (n for n in nodes if isinstance(n, ast.Attribute) and n.lineno < min(bound))
        if any(n.attr in _COMPUTING or syntax.dotted(n.value) == "torch" for n in before):
            return False
        inside |= set(nodes)
    return all(
        node in inside
        for node in syntax.walk(tree)
        if isinstance(node, ast.Name)
        and node.id == name
        or isinstance(node, ast.alias)
        and (node.asname or node.name) == name
    )


def _names_device(statement: ast.stmt) -> bool:
    """Tell whether what a statement binds is to get the file's name for the device, perhaps:
    `device = settings.get("device", "cuda")`."""
    match statement:
        case ast.Assign(value=ast.Call(func=ast.Attribute(attr="device"), args=[ast.Constant()])):
            return False
    return any(
        isinstance(n, ast.Constant) and isinstance(n.value, str) for n in ast.walk(statement)
    )


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
