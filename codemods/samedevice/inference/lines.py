"""The functions of a file by their lines."""

from __future__ import annotations

from bisect import bisect_right

from samedevice.inference.values import FunctionNode


class Lines:
    """The functions of a file by their lines."""

    def __init__(self, nodes: list[FunctionNode]) -> None:
        # Of those that begin in one line, the one that was evaluated first comes last.
        self._nodes = sorted(reversed(nodes), key=lambda node: node.lineno)
        self._starts = [node.lineno for node in self._nodes]
        self._around: list[int] = []  # the one before each that may hold what it does not
        for index, node in enumerate(self._nodes):
            around = index - 1
            while around >= 0 and (self._nodes[around].end_lineno or 0) < node.lineno:
                around = self._around[around]
            self._around.append(around)

    def innermost(self, line: int) -> FunctionNode | None:
        """Return the last function to begin that has the line in it."""
        index = bisect_right(self._starts, line) - 1
        while index >= 0 and (self._nodes[index].end_lineno or 0) < line:
            index = self._around[index]
        return self._nodes[index] if index >= 0 else None
