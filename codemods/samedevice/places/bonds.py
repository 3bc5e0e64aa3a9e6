"""Which lines of a program use values whose places depend on each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from samedevice.places.graph import Cause, Node, Spot
from samedevice.places.solution import Solution


@dataclass(frozen=True)
class Bonds:
    """The groups of values of a program, by the numbers that they have here.

    Values are in one group when one of them is computed from, meets, indexes, fills or is drawn
    from another, however many steps away: where one is moved, all of them may have to be. `used`
    are for each file its lines, each followed by the groups of the values that it uses. `seeds` are
    the groups of which the program itself puts nothing on a device.
    """

    used: tuple[tuple[str, tuple[tuple[int, ...], ...]], ...] = ()
    seeds: tuple[int, ...] = ()

    @cached_property
    def lines(self) -> dict[tuple[str, int], tuple[int, ...]]:
        """For each file and line the groups of the values that it uses."""
        return {(path, line): tuple(groups) for path, lines in self.used for line, *groups in lines}

    @cached_property
    def idle(self) -> frozenset[int]:
        """The groups of which the program itself puts nothing on a device."""
        return frozenset(self.seeds)


def bonds(solution: Solution) -> Bonds:
    """Return what belongs together in a program."""
    groups = _Groups()
    found: dict[str, dict[int, set[int]]] = {}
    spots: list[tuple[Node, Spot]] = []
    for node in solution.graph.nodes:
        for other, places in _related(node):
            groups.unite(node.find(), other.find())
            spots += places
        spots += ((node, spot) for spot in node.spots)
    for site in solution.interpreter.sites:
        if isinstance(site.node, Node):
            spots.append((site.node, site.spot))
    numbers: dict[int, int] = {}
    for node, spot in spots:
        group = groups.number(node.find())
        number = numbers.setdefault(group, len(numbers))
        lines = found.setdefault(spot.path, {})
        for line in _lines(spot.node):
            lines.setdefault(line, set()).add(number)
    used = (
        (path, tuple((line, *sorted(used)) for line, used in lines.items()))
        for path, lines in found.items()
    )
    seeds = {node.find() for node in solution.graph.nodes if node.find().cause is Cause.SEED}
    idle = {numbers.setdefault(groups.number(node), len(numbers)) for node in seeds}
    return Bonds(tuple(used), tuple(sorted(idle)))


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
