"""Which lines of a program use values whose places depend on each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from samedevice.places.graph import Cause, Node, Spot
from samedevice.places.solution import Solution


@dataclass(frozen=True)
class Bonds:
    """For each file and line the numbers of the groups of values that it uses.

    Values are in one group when one of them is computed from, meets, indexes, fills or is drawn
    from another, however many steps away: where one is moved, all of them may have to be. `idle`
    are the groups of which the program itself puts nothing on a device.
    """

    lines: dict[tuple[str, int], set[int]]
    idle: frozenset[int]


def bonds(solution: Solution) -> Bonds:
    """Return what belongs together in a program."""
    groups = _Groups()
    found: dict[tuple[str, int], set[int]] = {}
    spots: list[tuple[Node, Spot]] = []
    for node in solution.graph.nodes:
        for other, places in _related(node):
            groups.unite(node.find(), other.find())
            spots += places
        spots += ((node, spot) for spot in node.spots)
    for site in solution.interpreter.sites:
        if isinstance(site.node, Node):
            spots.append((site.node, site.spot))
    for node, spot in spots:
        number = groups.number(node.find())
        for line in _lines(spot.node):
            found.setdefault((spot.path, line), set()).add(number)
    seeds = (node for node in solution.graph.nodes if node.find().cause is Cause.SEED)
    return Bonds(found, frozenset(groups.number(node.find()) for node in seeds))


def _related(node: Node) -> Iterator[tuple[Node, list[tuple[Node, Spot]]]]:
    for meet in (*node.meets, *node.indexes):
        ends = [(meet.left, meet.left_spot), (meet.right, meet.right_spot)]
        yield meet.left, ends
        yield meet.right, ends
    for other in (*node.flows_to, *node.flows_from, *node.batch_from, *node.stored):
        yield other, []


def _lines(node: ast.AST) -> range:
    first = getattr(node, "lineno", 0)
    if isinstance(node, ast.stmt):  # its body is judged by itself
        return range(first, first + 1)
    return range(first, (getattr(node, "end_lineno", None) or first) + 1)


class _Groups:
    """Union-find over nodes."""

    def __init__(self) -> None:
        self._parents: dict[int, int] = {}

    def number(self, node: Node) -> int:
        """Return the number of a node's group."""
        number = id(node)
        while self._parents.get(number, number) != number:
            self._parents[number] = self._parents.get(self._parents[number], number)
            number = self._parents[number]
        return number

    def unite(self, one: Node, other: Node) -> None:
        """Make one group of two."""
        self._parents[self.number(one)] = self.number(other)
