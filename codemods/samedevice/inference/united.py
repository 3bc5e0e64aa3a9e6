"""Which values of a program depend on each other, however many steps away."""

from __future__ import annotations

from samedevice.inference.graph import Graph
from samedevice.inference.nodes import PlaceVar


class Groups:
    """Union-find over numbers."""

    def __init__(self, size: int) -> None:
        self._parents = list(range(size))

    def of(self, number: int) -> int:
        """Return the number of the group that one is in."""
        parents = self._parents
        while (parent := parents[number]) != number:
            parents[number] = number = parents[parent]
        return number

    def unite(self, one: int, other: int) -> None:
        """Make one group of two."""
        self._parents[self.of(one)] = self.of(other)


def united(graph: Graph) -> tuple[dict[PlaceVar, int], Groups]:
    """Return the values of a program by their numbers, and the groups of these.

    Two are in one where they meet, or where one is made of the other, drawn from it or stored.
    """
    roots = [node for node in graph.nodes if node.find() is node]
    index = {root: number for number, root in enumerate(roots)}
    groups = Groups(len(roots))
    for meet in graph.meetings:
        groups.unite(index[meet.left.find()], index[meet.right.find()])
    for number, root in enumerate(roots):
        for other in (*root.flows_to, *root.drawn_from, *root.stored):
            groups.unite(number, index[other.find()])
    return index, groups
