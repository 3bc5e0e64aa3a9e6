"""Imports that an edit inserted: each has to find its module, and the name in it, when it runs."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from samedevice.reading.project import Project
from samedevice.reading.syntax import is_main_test, per_node, statements, walk
from samedevice.repair.importable import Importable
from samedevice.verify.binding import State, at_end
from samedevice.verify.built import modules
from samedevice.verify.edited import Edited

#: What edited code imports from elsewhere: it came with the program or with Python.
_ELSEWHERE = frozenset({"torch"}) | sys.stdlib_module_names
_LATER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def unresolved(
    before: Project, after: Project, path: str, edited: Edited, importable: Importable
) -> Iterator[tuple[ast.AST, str]]:
    """Yield new imports of a file that would fail, each with what is wrong."""
    for node in edited.new:
        match edited.parents.get(node):
            case ast.ImportFrom() as statement if isinstance(node, ast.alias):
                reason = _from(before, after, path, importable, statement, node.name)
            case ast.Import() as statement if isinstance(node, ast.alias):
                reason = _plain(after, path, node.name)
            case _:
                continue
        if not reason and _is_at_top(edited, statement) and _defers_torch(edited.before):
            reason = "torch is imported in functions only, and may not be there at the top"
        if reason:
            yield node, reason


def _is_at_top(edited: Edited, statement: ast.stmt) -> bool:
    """Tell whether an import runs with its file, and brings torch or a file that has a device."""
    at: ast.AST | None = statement
    while at is not None and not isinstance(at, _LATER):
        at = edited.parents.get(at)
    if at is not None:
        return False
    package = modules(statement)[0].partition(".")[0]  # "" of a relative one
    return package not in sys.stdlib_module_names


@per_node
def _defers_torch(tree: ast.Module) -> bool:
    """Tell whether a file imports torch where a function needs it, and nowhere else.

    It may run where torch is not installed: it sends its functions to another machine.
    """
    inside = {part for node in walk(tree) if isinstance(node, _LATER) for part in walk(node)}
    found = [statement in inside for statement in statements(tree) if _brings_torch(statement)]
    return bool(found) and all(found)


def _brings_torch(statement: ast.stmt) -> bool:
    return any(module.partition(".")[0] == "torch" for module in modules(statement))


def _plain(project: Project, path: str, module: str) -> str:
    if module.partition(".")[0] in _ELSEWHERE or project.resolve(path, module) is not None:
        return ""
    return f"there is no module {module} for this file"


def _from(
    before: Project, after: Project, path: str, importable: Importable, node: ast.ImportFrom,
    name: str,
) -> str:  # fmt: skip
    module = "." * node.level + (node.module or "")
    if not node.level and module.partition(".")[0] in _ELSEWHERE:
        return ""
    if node.level and importable.runs_by_path(path):
        return f"`from {module} import` fails where this file is run by its path"
    target = after.resolve(path, node.module or "", node.level)
    if target is None and f"{module}:{name}" == before.resolver_function:
        return ""  # whoever asked for it has it elsewhere
    if target is None or not node.level and not importable.reaches(path, module, target):
        return f"there is no module {module} for this file"
    inner = f"{node.module}.{name}" if node.module else name
    if after.resolve(path, inner, node.level) not in (None, target):
        return ""  # a module of the package
    tree = after.tree(target)
    if tree is None:
        return f"{module} does not parse"
    state = at_end(tree, {name})[name]
    if state & State.UNBOUND:
        return f"{module} may have no `{name}` when it is imported"
    if state & State.NONE:
        return f"`{name}` of {module} may be None when it is imported"
    known = before.imports.get(path, set())
    if target not in known and _leads_to(before, target, path):
        return f"{module} imports this file, directly or not"
    return ""


def brought(project: Project, path: str) -> set[str]:
    """Return the names that the star imports of a file bring from the project's own files."""
    found: set[str] = set()
    seen, queue = {path}, [path]
    while queue:
        here = queue.pop()
        tree = project.tree(here)
        for node in tree.body if tree is not None else ():
            if here != path:
                found.update(_bound_by(node))
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                target = project.resolve(here, node.module or "", node.level)
                if target is not None and target not in seen:
                    seen.add(target)
                    queue.append(target)
    return {name for name in found if not name.startswith("_")}


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a file binds for those who import it."""
    if isinstance(statement, ast.If) and is_main_test(statement.test):
        return
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name
        return
    for node in walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (each.asname or each.name.partition(".")[0] for each in node.names)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name


def _leads_to(project: Project, start: str, goal: str) -> bool:
    """Tell whether a file imports another, directly or not."""
    seen: set[str] = set()
    queue = [start]
    while queue:
        path = queue.pop()
        if path == goal:
            return True
        if path not in seen:
            seen.add(path)
            queue += project.imports.get(path, ())
    return False
