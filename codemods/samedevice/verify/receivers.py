"""What an edit moves has to be a tensor or a module, for each value that can arrive there."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Protocol

from samedevice import syntax
from samedevice.finding import Edit, Finding
from samedevice.project import Project

_MOVES = frozenset({"to", "cpu", "cuda"})
_MOVE = re.compile(r"\.(?:to|cpu|cuda)\(")

_Lines = dict[int, list[ast.expr | ast.For | ast.AsyncFor]]


class Certainty(Protocol):
    """Who knows what arrives at expressions: the inference."""

    def __call__(self, expressions: Collection[ast.AST], /) -> dict[ast.AST, str]:
        """Return which of some expressions may be no tensor or module, and what else they may be.

        An expression is in doubt if it is so for one caller, on one path.
        """


def moving(project: Project, finding: Finding) -> Iterator[frozenset[str]]:
    """Yield the programs in which the fix of a finding moves something."""
    edits = _moving(finding)
    yield from dict.fromkeys(
        project.programs[edit.path] for edit in edits if edit.path in project.programs
    )


def uncertain(
    project: Project,
    program: frozenset[str],
    findings: Iterable[Finding],
    certainty: Certainty,
) -> Iterator[tuple[Finding, str]]:
    """Yield the findings whose fix moves what may be no tensor, each with what is wrong.

    Only what is moved in files of a program is asked about.
    """
    moved: dict[ast.AST, list[Finding]] = {}
    lines: dict[str, _Lines] = {}
    for finding in findings:
        for edit in _moving(finding):
            if edit.path not in program:
                continue
            if edit.path not in lines:
                lines[edit.path] = _by_line(project.tree(edit.path))
            for node in _receivers(project, edit, lines[edit.path]):
                moved.setdefault(node, []).append(finding)
    if moved:
        for node, other in certainty(moved).items():
            for finding in moved[node]:
                yield finding, f"`{_short(node)}` may be {other}, which cannot be moved"


def _moving(finding: Finding) -> list[Edit]:
    """Return the edits of a finding's fix that move something."""
    edits = finding.fix.edits if finding.fix is not None else ()
    return [edit for edit in edits if _MOVE.search("".join(value for _, value in edit.args))]


def _by_line(tree: ast.Module | None) -> _Lines:
    """Return the expressions and loops of a file by the line that they begin in."""
    lines: _Lines = {}
    for node in syntax.walk(tree) if tree is not None else ():
        if isinstance(node, (ast.expr, ast.For, ast.AsyncFor)):
            lines.setdefault(node.lineno, []).append(node)
    return lines


def _receivers(project: Project, edit: Edit, lines: _Lines) -> Iterator[ast.AST]:
    """Yield the expressions that an edit moves, as far as their kind is not plain from the code."""
    source = project.sources[edit.path]
    for node in lines.get(edit.span.line, ()):
        if source.span(node) != edit.span:
            continue
        if isinstance(node, ast.expr) and edit.verb in ("method", "replace"):
            if not _is_move(node):
                yield node
        elif isinstance(node, (ast.For, ast.AsyncFor)) and edit.verb == "head":
            yield from _first_uses(node, _moved_names(edit))


def _moved_names(edit: Edit) -> set[str]:
    """Return the names that inserted statements move."""
    try:
        tree = ast.parse(dict(edit.args).get("code", ""))
    except SyntaxError:
        return set()
    return {
        node.func.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _MOVES
        and isinstance(node.func.value, ast.Name)
    }


def _first_uses(loop: ast.For | ast.AsyncFor, names: set[str]) -> Iterator[ast.AST]:
    """Yield the first use of each name in a loop's body."""
    uses = [
        node
        for node in syntax.walk_all(loop.body)
        if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load)
    ]
    seen: set[str] = set()
    for node in sorted(uses, key=lambda node: (node.lineno, node.col_offset)):
        if node.id not in seen:
            seen.add(node.id)
            yield node


def _is_move(node: ast.expr) -> bool:
    """Tell whether an expression is a move already: what it is made for is the same."""
    func = node.func if isinstance(node, ast.Call) else None
    return isinstance(func, ast.Attribute) and func.attr in _MOVES


def _short(node: ast.AST) -> str:
    code = " ".join(ast.unparse(node).split())
    return code if len(code) <= 40 else f"{code[:37]}..."
