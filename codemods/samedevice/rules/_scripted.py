"""Code that TorchScript compiles: it knows few of torch's functions, and no names of the file."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace

from samedevice.finding import Finding
from samedevice.reading import syntax

_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
#: What a file with such code has in its text.
WORD = "jit.script"
_UNFIXED = "TorchScript compiles this, and does not know what would be written"


def compiles(tree_of: Callable[[str], ast.Module | None], found: Finding) -> Finding:
    """Return a finding without a fix that TorchScript could not compile.

    `tree_of` gives the tree of a file whose text speaks of `WORD`: others are not parsed for this.
    """
    fix = found.fix
    if fix is None:
        return found
    for edit in fix.edits:
        tree = tree_of(edit.path)
        if tree is None or not _scripted(tree):
            continue
        named = edit.path in {one.path for one in fix.resolvers} | {one.path for one in fix.imports}
        words = {word for _, value in edit.args for word in re.findall(r"\w+", value)}
        asks = not words.isdisjoint({"is_available", *_globals(tree)})
        if (named or asks) and any(
            first <= edit.span.line <= last for first, last in _scripted(tree)
        ):
            return replace(found, fix=None, unfixed=_UNFIXED)
    return found


@syntax.per_node
def _globals(tree: ast.Module) -> frozenset[str]:
    """Return the names of a file's own variables, in whatever block or function it sets them."""
    found: set[str] = set()
    queue: list[ast.AST] = [tree]
    while queue:
        node = queue.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif not isinstance(node, (*_DEFINITION, ast.Lambda)):
            queue += syntax.children(node)
    for node in syntax.statements(tree):
        if isinstance(node, ast.Global):
            found.update(node.names)
    return frozenset(found)


@syntax.per_node
def _scripted(tree: ast.Module) -> tuple[tuple[int, int], ...]:
    """Return the lines of the definitions that are compiled."""
    return tuple(
        (node.lineno, node.end_lineno or node.lineno)
        for node in syntax.walk(tree)
        if isinstance(node, _DEFINITION)
        and any(
            syntax.dotted(each).rpartition("jit.")[2] in ("script", "script_method")
            for each in node.decorator_list
        )
    )
