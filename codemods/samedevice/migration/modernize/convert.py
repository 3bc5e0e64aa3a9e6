"""One text through all idioms: which kind of file it is decides which of them apply."""

from __future__ import annotations

import ast
import os.path
from dataclasses import dataclass

from .engine import NotParsed, Run, parse_text
from .gone import IMPORTS, NAMES
from .meaning import MEANING, RELATIVE, TIDY
from .names import Tree
from .review import review
from .syntax import ASYNC, SYNTAX
from .tabs import untab

__all__ = ["Converted", "NotParsed", "convert"]


@dataclass(frozen=True)
class Converted:
    """The new text, what changed by old lines, what to look at by new lines, what cannot change."""

    text: str
    changes: list[tuple[int, str]]
    notes: list[tuple[int, str]]
    errors: list[tuple[int, str]]


def convert(text: str, path: str) -> Converted:
    """Return a text whose newlines are `\\n` as Python 3; raises `NotParsed`, `RecursionError`.

    A file that only fails for a name that became a keyword (`async`) was Python 3 before 3.7: no
    other idiom is applied to it.
    """
    straight, lines = untab(text)
    untabbed = [(line, "the indentation does not mix tabs and spaces") for line in lines]
    trial = _start(straight, path)
    ASYNC.apply(trial)
    renamed = len(trial.changes)
    for idioms in (SYNTAX, IMPORTS, NAMES):
        idioms.apply(trial)
    if os.path.basename(path) == "__init__.py":  # it can only be imported as a package
        RELATIVE.apply(trial)
    if len(trial.changes) == renamed and not untabbed and not trial.statements:
        return Converted(_text(trial, text), trial.changes, [], trial.errors)
    run = _start(straight, path)
    for idioms in (ASYNC, SYNTAX, RELATIVE, MEANING, IMPORTS, NAMES, TIDY):
        idioms.apply(run)
    new = _with_imports(_text(run, text), sorted(run.imports))
    return Converted(new, untabbed + run.changes, review(new), run.errors)


def _start(text: str, path: str) -> Run:
    tree, statements = parse_text(text)
    return Run(path, tree, statements, _future(tree))


def _future(tree: Tree) -> frozenset[str]:
    names: set[str] = set()
    for statement in tree.children:
        words = [leaf.value for leaf in statement.leaves()]
        if words[:3] == ["from", "__future__", "import"]:
            names.update(words[3:])
    return frozenset(names)


def _text(run: Run, old: str) -> str:
    text = str(run.tree)
    return text if old.endswith("\n") else text.removesuffix("\n")


def _with_imports(text: str, statements: list[str]) -> str:
    """Put imports before the first one of the text, else below what must stay on top."""
    if not statements:
        return text
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return text  # the caller finds the same and says so
    present = {ast.unparse(node) for node in body if isinstance(node, (ast.Import, ast.ImportFrom))}
    missing = [statement for statement in statements if statement not in present]
    lines = text.split("\n")
    at = 0
    for index, node in enumerate(body):
        docstring = (
            index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        )
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if docstring or future:
            at = node.end_lineno or at
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            at = node.lineno - 1
            break
    else:
        if not at:  # nothing but comments to stay below
            at = next((i for i, line in enumerate(lines) if not line.startswith("#")), 0)
    return "\n".join(lines[:at] + missing + lines[at:])
