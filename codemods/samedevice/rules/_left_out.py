"""Statements that only CUDA has any use for: without it they are left out."""

from __future__ import annotations

import ast

from samedevice.finding import Edit
from samedevice.inference import Solution
from samedevice.inference.events import CudaOnly
from samedevice.inference.nodes import Location
from samedevice.reading import syntax
from samedevice.rules._build import edit, with_comment
from samedevice.rules._runtime import is_runtime, respelled, spelling, vendor

#: Calls that say something about the device and do nothing else: they may be left out with it.
_SAYING = frozenset(("print", "info", "debug", "log", "write", "warning"))


def run(
    solution: Solution, spot: Location, statement: ast.stmt, done: set[ast.AST]
) -> list[ast.stmt]:
    """Return a statement that does nothing but ask CUDA, with those behind it that do nothing else
    either; none where it does more."""
    found = [statement] if _may_be_left_out(statement) else []
    if is_runtime(statement):
        found = _alike(solution, spot.path, statement, done)
    return _on_lines(solution, spot.path, found)


def _on_lines(solution: Solution, path: str, statements: list[ast.stmt]) -> list[ast.stmt]:
    """Return statements that have a line each, or none."""
    source = solution.project.sources[path]
    return [] if any("\n" in source.segment(each) for each in statements) else statements


def under(solution: Solution, path: str, test: str, statements: list[ast.stmt]) -> tuple[Edit, ...]:
    """Return the edits that put statements of one block under a test."""
    body = [
        with_comment(solution, Location(path, each), respelled(solution, path, each))
        for each in statements
    ]
    code = "\n".join([f"if {test}:", *(f"    {line}" for line in body)])
    first, *others = (Location(path, each) for each in statements)
    return (
        edit(solution, first, "replace_statement", code=code),
        *(edit(solution, each, "delete") for each in others),
    )


def told(solution: Solution, spot: Location, statement: ast.stmt) -> list[ast.stmt]:
    """Return an assignment of what CUDA says, with the statements right behind that alone use it,
    and only tell it.

    Those that tell something else, too, stay, unless the function does nothing but tell.
    """
    names = _assigned(statement)
    found = [statement]
    for each in solution.programs.parents(spot.path).behind(statement) if names else ():
        if not names & _read(each) or not (_assigned(each) or _may_be_left_out(each)):
            break
        found.append(each)
        names |= _assigned(each)
    if not _may_be_left_out(found[-1]):
        return []
    home = solution.programs.function_of(spot) or solution.programs.tree(spot.path)
    own = {node for each in found for node in ast.walk(each)}
    for node in syntax.walk(home):
        if isinstance(node, ast.Name) and node.id in names and node not in own:
            return []
    alone = not isinstance(home, ast.Module) and found == [
        each for each in home.body if not isinstance(getattr(each, "value", None), ast.Constant)
    ]
    if not alone and any(_read(each) - names for each in found[1:]):
        return []
    return _on_lines(solution, spot.path, found)


def _assigned(statement: ast.stmt) -> set[str]:
    """Return the names that a plain assignment gives, or none if it gives anything else."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    parts = [
        part
        for target in targets
        for part in (target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target])
    ]
    named = {part.id for part in parts if isinstance(part, ast.Name)}
    return named if len(named) == len(parts) else set()


def _read(statement: ast.stmt) -> set[str]:
    """Return the names that a statement reads, but what it calls."""
    called = {
        part
        for node in ast.walk(statement)
        if isinstance(node, ast.Call)
        for part in ast.walk(node.func)
    }
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in called
    }


def _may_be_left_out(statement: ast.stmt) -> bool:
    """Tell whether a statement only calls CUDA's runtime, or says something about it."""
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
        return False
    func = statement.value.func
    last = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    return last in _SAYING or is_runtime(statement)


def _alike(
    solution: Solution, path: str, statement: ast.stmt, done: set[ast.AST]
) -> list[ast.stmt]:
    """Return a statement and those behind it that call the same runtime too."""

    def new(each: ast.stmt) -> tuple[str, bool] | None:
        calls = (g for n in ast.walk(each) for g in solution.groups_at(CudaOnly, n))
        names = [group.first.name for group in calls]
        if not names:
            return None
        return vendor(names[0]), spelling(solution, path, names[0]) is not None

    kind = new(statement)
    found = [statement]
    for each in solution.programs.parents(path).behind(statement):
        if each in done or not is_runtime(each) or new(each) != kind:
            break
        found.append(each)
    return found
