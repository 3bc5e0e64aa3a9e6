"""What is built for CUDA alone: modules that a project compiles, and packages that need them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.reading import syntax
from samedevice.reading.project import Project


def compiled(project: Project) -> Iterator[str]:
    """Yield the modules that a project compiles for CUDA, and that it has no other build of."""
    for path, source in project.sources.items():
        if "CUDAExtension" not in source.text:
            continue
        tree = project.tree(path) or ast.Module([], [])
        if _names(tree, "CppExtension") and "raise" not in source.text:
            continue  # which is built without CUDA
        for node in syntax.walk(tree):
            if isinstance(node, ast.Call) and last(node.func).lower().endswith("extension"):
                named = next((k.value for k in node.keywords if k.arg == "name"), None)
                match named or next(iter(node.args), None):
                    case ast.Constant(value=str(name)):
                        yield name


def _names(tree: ast.Module, name: str) -> bool:
    """Tell whether a file does more with a name than import it."""
    return any(
        isinstance(node, ast.Name | ast.Attribute)
        and syntax.dotted(node).rpartition(".")[2] == name
        for node in syntax.walk(tree)
    )


def packages_with(project: Project, built: frozenset[str]) -> Iterator[str]:
    """Yield the project's packages that import what it compiles for CUDA when they are imported.

    Where they are installed from is not seen by all that import them by their names.
    """
    reached = [
        path
        for path in project.sources
        if any(name.rpartition(".")[2] in project.sources[path].text for name in built)
        if not built.isdisjoint(_imported(getattr(project.tree(path), "body", [])))
    ]
    for path in reached:
        reached += [p for p in project.importers.get(path, ()) if p not in reached]
        folder, _, name = path.rpartition("/")
        if name == "__init__.py" and not project.is_package(folder):
            yield folder.rpartition("/")[2]


def _imported(body: list[ast.stmt]) -> set[str]:
    """Return the modules that some statements import, under tests, too: nothing catches it there
    when one is missing."""
    found: set[str] = set()
    for statement in body:
        found.update(modules(statement))
        if isinstance(statement, ast.If):
            found |= _imported(statement.body) | _imported(statement.orelse)
    return found


def called(tree: ast.Module, name: str) -> Iterator[ast.Call]:
    """Yield the calls of a library's function that are not told to be off."""
    home, _, function = name.rpartition(".")
    spelled = {name}
    for node in syntax.statements(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                module = getattr(node, "module", None)
                meant = f"{module}.{alias.name}" if module else alias.name
                if meant == name:
                    spelled.add(alias.asname or alias.name)
                elif meant == home and (module or alias.asname):
                    spelled.add(f"{alias.asname or alias.name}.{function}")
    for call in syntax.calls(tree).get(function, ()):
        if syntax.dotted(call.func) in spelled and not any(
            k.arg == "enabled" for k in call.keywords
        ):
            yield call


def modules(node: ast.stmt) -> list[str]:
    """Return the modules that a statement imports by their full names; a relative one has dots.

    What a package is asked for by name may be one of its modules.
    """
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    dots = "." * node.level
    if node.module:
        whole = dots + node.module
        return [whole, *(f"{whole}.{alias.name}" for alias in node.names)]
    return [dots + alias.name for alias in node.names]


def missing(project: Project, path: str, statement: ast.stmt, built: frozenset[str]) -> list[str]:
    """Return the modules that a file imports and the project has not, of those that are built."""
    found: list[str] = []
    for module in modules(statement):
        bare = module.lstrip(".")
        level = len(module) - len(bare)
        if level:
            known = any(each == bare or each.endswith(f".{bare}") for each in built)
        else:
            known = not built.isdisjoint((module, module.partition(".")[0]))
        if known and project.resolve(path, bare, level) is None:
            found.append(module)
    return found


def on_gpu(tree: ast.Module) -> Iterator[ast.Call]:
    """Yield the calls that put a library's model on a GPU by its number: `device_map={"": 0}`."""
    names = syntax.bound_once(tree)
    for node in syntax.walk(tree):
        if isinstance(node, ast.Call):
            given = next((k.value for k in node.keywords if k.arg == "device_map"), None)
            where = [*given.values] if isinstance(given, ast.Dict) else [given]
            for each in where:
                held = names.get(each.id) if isinstance(each, ast.Name) else each
                match held:
                    case ast.Constant(value=int() | str() as value) if _is_gpu(value):
                        yield node


def _is_gpu(value: int | str) -> bool:
    return not isinstance(value, bool) and (
        isinstance(value, int) or value.partition(":")[0] == "cuda"
    )


def last(node: ast.expr) -> str:
    """Return the last part of a dotted name."""
    return node.attr if isinstance(node, ast.Attribute) else syntax.dotted(node)
