"""Where code names a device, and what stands there in an edited program: always one, or less.

An attribute may be read before it is set, a parameter may be None for those who leave it out, and a
name may be one of something else. What is inferred of the edited program says so, for each caller
and on each path.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.inference import Solution
from samedevice.reading import syntax
from samedevice.reading.project import Project

#: A file, where an expression stands in it (both lines and columns), and what it does.
Nameless = tuple[str, tuple[int, int, int, int], str]


def nameless(project: Project, program: frozenset[str], solution: Solution) -> tuple[Nameless, ...]:
    """Return where files of a program may name no device, by a solution that has watched."""
    found: list[Nameless] = []
    for path in sorted(program):
        tree = project.tree(path)
        if tree is None or not solution.judges(path):
            continue
        named = list(_named(tree))
        numberless = {node for node, takes_numbers in named if not takes_numbers}
        said = solution.watcher.nameless([node for node, _ in named], numberless)
        found += ((path, place(node), what) for node, what in said.items())
        asked: dict[ast.AST, ast.expr] = {
            node.value: node
            for node, _ in named
            if isinstance(node, ast.Attribute) and node.attr == "device"
        }
        for node in _left_out(tree):
            if solution.watcher.is_uncalled(node):
                found.append((path, place(node), "may be None"))
        for tensor, what in solution.watcher.without_device(asked).items():
            found.append((path, place(asked[tensor]), f"asks what may be {what}"))
    return tuple(found)


def place(node: ast.AST) -> tuple[int, int, int, int]:
    """Return where an expression stands in its file."""
    assert isinstance(node, ast.expr)
    return (
        node.lineno, node.col_offset,
        node.end_lineno or node.lineno, node.end_col_offset or node.col_offset,
    )  # fmt: skip


def _left_out(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield where a parameter says where something is moved that is None if it is left out.

    Not where the function asks whether it is, or binds it anew.
    """
    for function in syntax.walk(tree):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        nodes = syntax.walk(function)
        names = {
            name
            for name, default in syntax.defaults(function.args).items()
            if isinstance(default, ast.Constant) and default.value is None
        } - syntax.asked_for_none(function)
        if names:
            names -= {
                n.id for n in nodes if isinstance(n, ast.Name) and n.ctx.__class__ is ast.Store
            }
        for node in nodes if names else ():
            match node:
                case ast.Call(func=ast.Attribute(attr="to"), args=[ast.Name(id=name) as given, *_]):
                    if name in names:
                        yield given


def _named(tree: ast.Module) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the expressions that say where something goes, and whether that may be a number."""
    for node in syntax.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="to"), args=[given, *_]):
                if not isinstance(given, (ast.Starred, ast.Constant)):
                    yield given, True
            case ast.keyword(arg="device" | "map_location" as name, value=given):
                if not isinstance(given, (ast.Lambda, ast.Constant, ast.Dict)):
                    yield given, name == "device"
