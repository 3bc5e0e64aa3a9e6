"""Imports that an edit inserted: each has to find its module, and the name in it, when it runs."""

from __future__ import annotations

import ast
import posixpath
import sys
from collections.abc import Iterator

from samedevice.project import Project
from samedevice.syntax import walk
from samedevice.verify.binding import State, at_end
from samedevice.verify.callers import is_main_test
from samedevice.verify.edited import Edited

#: What edited code imports from elsewhere: it came with the program or with Python.
_ELSEWHERE = frozenset({"torch"}) | sys.stdlib_module_names

#: The files that say how a package is built.
_BUILDS = ("setup.py", "setup.cfg", "pyproject.toml")


def unresolved(
    before: Project, after: Project, path: str, edited: Edited
) -> Iterator[tuple[ast.AST, str]]:
    """Yield new imports of a file that would fail, each with what is wrong."""
    for node in edited.new:
        match edited.parents.get(node):
            case ast.ImportFrom() as statement if isinstance(node, ast.alias):
                reason = _from(before, after, path, edited, statement, node.name)
            case ast.Import() if isinstance(node, ast.alias):
                reason = _plain(after, path, node.name)
            case _:
                continue
        if reason:
            yield node, reason


def _plain(project: Project, path: str, module: str) -> str:
    if module.partition(".")[0] in _ELSEWHERE or project.resolve(path, module) is not None:
        return ""
    return f"there is no module {module} for this file"


def _from(
    before: Project, after: Project, path: str, edited: Edited, node: ast.ImportFrom, name: str
) -> str:
    module = "." * node.level + (node.module or "")
    if not node.level and module.partition(".")[0] in _ELSEWHERE:
        return ""
    if node.level and _runs_by_path(edited) and not _has_relative(edited.before):
        return f"`from {module} import` fails where this file is run by its path"
    target = after.resolve(path, node.module or "", node.level)
    if target is None and f"{module}:{name}" == before.resolver_function:
        return ""  # whoever asked for it has it elsewhere
    if target is None or not node.level and not _is_reached(before, path, module, target):
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


def _is_reached(project: Project, path: str, module: str, target: str) -> bool:
    """Tell whether an absolute import reaches a file: a package's folder is in no path of Python's.

    Unless the file imports others from there so already, or each program that leads to it does.
    """
    searched = _searched(module, target)
    if not project.is_package(posixpath.join(searched, "any.py")):
        if project.is_package(target) or not _is_left_behind(project, path, searched):
            return True
    if _imports_from(project, path, searched):
        return True
    starts = [
        start
        for start in project.imports
        if start != path and start not in project.importers and _leads_to(project, start, path)
    ]
    return bool(starts) and all(_imports_from(project, start, searched) for start in starts)


def _is_left_behind(project: Project, path: str, searched: str) -> bool:
    """Tell whether a file may run where a folder's own modules are not.

    A package that is installed comes without what lies beside it. pytest puts the folder of a test
    on Python's path, and not the one above it, unless a `conftest.py` is there.
    """
    folder = posixpath.dirname(path)
    if folder == searched:
        return False
    if project.is_package(path):
        return any(_builds(project, posixpath.join(searched, name)) for name in _BUILDS)
    is_test = posixpath.basename(path).startswith("test_")
    return is_test and posixpath.join(searched, "conftest.py") not in project.sources


def _builds(project: Project, path: str) -> bool:
    """Tell whether a file says how a package is built."""
    if path in project.sources:
        return True
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return not path.endswith(".toml") or "[build-system]" in file.read()
    except OSError:
        return False


def _imports_from(project: Project, path: str, searched: str) -> bool:
    """Tell whether a file has absolute imports that lead to files from a folder."""
    return any(
        not statement.level
        and (known := project.resolve(path, statement.module)) is not None
        and _searched(statement.module, known) == searched
        for statement in project.imported.get(path, ())
    )


def _searched(module: str, target: str) -> str:
    """Return the folder from which an absolute import leads to a file."""
    folder = posixpath.dirname(target)
    if posixpath.basename(target) == "__init__.py":
        folder = posixpath.dirname(folder)
    for _ in range(module.count(".")):
        folder = posixpath.dirname(folder)
    return folder


def _runs_by_path(edited: Edited) -> bool:
    """Tell whether a file is a program of its own."""
    return any(isinstance(n, ast.If) and is_main_test(n.test) for n in edited.before.body)


def _has_relative(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.ImportFrom) and node.level for node in tree.body)


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
