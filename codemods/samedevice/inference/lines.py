"""The functions of a file by their lines."""

from __future__ import annotations

import ast
from bisect import bisect_right

from samedevice.inference.values import FunctionNode


class Lines:
    """The functions of a file by their lines."""

    def __init__(self, nodes: list[FunctionNode]) -> None:
        self._nodes = sorted(nodes, key=lambda node: (node.lineno, node.col_offset))
        self._starts = [node.lineno for node in self._nodes]
        self._around: list[int] = []  # the one before each that may hold what it does not
        for index, node in enumerate(self._nodes):
            around = index - 1
            while around >= 0 and (self._nodes[around].end_lineno or 0) < node.lineno:
                around = self._around[around]
            self._around.append(around)

    def innermost(self, at: ast.AST) -> FunctionNode | None:
        """Return the last function to begin that has what begins at a node in it."""
        line, column = getattr(at, "lineno", 0), getattr(at, "col_offset", 0)
        index = bisect_right(self._starts, line) - 1
        while index >= 0 and not _has(self._nodes[index], line, column):
            index = self._around[index]
        return self._nodes[index] if index >= 0 else None


def _has(node: FunctionNode, line: int, column: int) -> bool:
    """Tell whether a function has a place in it: a lambda shares its lines with what is around."""
    if not isinstance(node, ast.Lambda):
        return line <= (node.end_lineno or 0)
    body = node.body
    end = body.end_lineno or 0, body.end_col_offset or 0
    return (body.lineno, body.col_offset) <= (line, column) < end
