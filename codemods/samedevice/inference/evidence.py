"""What shows that a clash is one: where both sides are for certain, in code that really runs.

A program that puts things on a device itself ran on one, most likely: what looks wrong there is a
mistake of the inference more often than one of the program. So what is written into it rests on a
path from what a script does to the meeting. Nothing on it is a parameter that nobody is known to
fill, a value of which nothing is known, or what an unknown library may do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from functools import cached_property

from samedevice.inference.graph import Graph, comes_from
from samedevice.inference.nodes import ON_DEVICE, Agree, Cause, Clash, Place, PlaceVar


class Evidence:
    """Follows places from where code decides them, along what certainly happens."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._host: dict[PlaceVar, bool] = {}

    def meets(self, nodes: Iterable[PlaceVar | None]) -> bool:
        """Tell whether one of some values certainly has to be on the device, or is there."""
        return any(node is not None and node.find() in self._needed for node in nodes)

    def follows(self, nodes: Iterable[PlaceVar | None]) -> bool:
        """Tell whether one of some values meets what a function is handed, wherever that is."""
        return any(node is not None and node.find() in self._joined for node in nodes)

    def clashes(self, node: PlaceVar | None) -> bool:
        """Tell whether a value is certainly on the CPU, and meets what certainly is not."""
        root = node.find() if node is not None else None
        return (
            root is not None
            and self._on_host(root)
            and any(
                _counts(meet, open_too=False)
                and (meet.right if meet.left.find() is root else meet.left).find() in self._needed
                for meet in root.meets
            )
        )

    def is_one(self, clash: Clash) -> bool:
        """Tell whether what is on the CPU in a clash is there for certain, and so is an index."""
        if clash.meet.open or clash.to_host and not self.is_there(clash.node):
            return False
        return self.is_on_host(clash.other if clash.to_host else clash.node)

    def is_there(self, node: PlaceVar | None) -> bool:
        """Tell whether a value is certainly on the device: put there, or computed there."""
        return node is not None and node.find() in self._there

    def is_on_host(self, node: PlaceVar | None) -> bool:
        """Tell whether a value is certainly on the CPU: put there, or computed there."""
        return node is not None and self._on_host(node.find())

    @cached_property
    def _there(self) -> set[PlaceVar]:
        found = set(self._begun(open_too=False))
        queue = deque(found)
        while queue:
            for each in queue.popleft().flows_to:
                result = each.find()
                if result in found or result.place is not Place.CENTRAL:
                    continue
                if result.joins and not _all_in(result, found):
                    continue
                found.add(result)
                queue.append(result)
        return found

    @cached_property
    def _needed(self) -> set[PlaceVar]:
        return self._spread(self._there, open_too=False)

    @cached_property
    def _joined(self) -> set[PlaceVar]:
        return self._spread(self._begun(open_too=True), open_too=True)

    def _begun(self, *, open_too: bool) -> Iterator[PlaceVar]:
        """Yield what code puts on the device; with `open_too`, and what a function is handed."""
        for node in self._graph.nodes:
            if node.find() is node and (open_too or not node.open):
                if node.pin is Place.CENTRAL or open_too and node.pin is Place.FOLLOWS:
                    yield node

    @staticmethod
    def _spread(begun: Iterable[PlaceVar], *, open_too: bool) -> set[PlaceVar]:
        """Return what meets these values, and what is computed from it and of what it is."""
        begun = frozenset(begun)
        found = set(begun)
        queue = deque(found)

        def reach(each: PlaceVar) -> None:
            node = each.find()
            if node.place in ON_DEVICE and node.is_tensor and node not in found:
                found.add(node)
                queue.append(node)

        while queue:
            node = queue.popleft()
            for meet in node.meets:
                if _counts(meet, open_too):
                    reach(meet.right if meet.left.find() is node else meet.left)
            for meet in node.indexes:
                if _counts(meet, open_too):
                    reach(meet.left)
            for target in node.flows_to:
                result = target.find()
                if not result.joins or result.agrees or _all_in(result, found):
                    reach(result)
            if node.agrees or node not in begun:
                for source in node.flows_from:
                    reach(source)
        return found

    def _on_host(self, root: PlaceVar) -> bool:
        known = self._host.get(root)
        if known is None:
            self._host[root] = True  # of what is computed from itself the rest decides
            known = self._host[root] = self._rests_on_host(root)
        return known

    def _rests_on_host(self, root: PlaceVar) -> bool:
        if root.place is not Place.HOST:
            return False
        if root.pin is not None:
            return not root.open and (root.cause is not Cause.FILE or root.is_tensor)
        if root.host_required_at is not None:
            return root.is_tensor
        return bool(root.flows_from) and all(self._on_host(s.find()) for s in root.flows_from)


def _counts(meet: Agree, open_too: bool) -> bool:
    return open_too or not meet.open and meet.kind != "called"


def _all_in(node: PlaceVar, found: set[PlaceVar]) -> bool:
    """Tell whether a value is one of these on every path, or made from itself."""
    return all(s.find() in found or comes_from(s.find(), node) for s in node.flows_from)
