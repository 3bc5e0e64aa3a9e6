"""The constraint graph: one node for each value whose place is to be found, and how places spread.

Four relations connect nodes:

* *same*: two names for one value, or an operation whose result lives where its operand does
  (`view`, `relu`). Nodes are merged (union-find), so this costs next to nothing.
* *meets*: two operands of one operation must share a place.
* *flows*: a result is wherever its operands are (`a + b`, both branches of a conditional).
* *index*: what is indexed by a tensor on the device must be there too; the other way is allowed.

`solve` starts at the nodes whose place is certain and visits every relation at most twice, so the
cost is linear in the size of the graph.
"""

from __future__ import annotations

import ast
from collections import deque
from dataclasses import dataclass, field

from samedevice.inference.nodes import (
    NONE,
    ON_DEVICE,
    Agree,
    Aside,
    Cause,
    Clash,
    Location,
    Place,
    PlaceVar,
    add,
)

#: Values that are looked at for what one is computed from.
_STEPS = 50


@dataclass
class Graph:
    """All nodes of one project."""

    nodes: list[PlaceVar] = field(default_factory=list)
    meetings: list[Agree] = field(default_factory=list)
    clashes: list[Clash] = field(default_factory=list)
    clashing: set[PlaceVar] = field(default_factory=set)
    #: What is said from now on is said by code that nobody is known to call.
    open: bool = False
    #: The test that says it.
    aside: Aside | None = None

    def node(self, spot: Location | None = None) -> PlaceVar:
        """Return a new node with its own place."""
        made = PlaceVar(spot)
        self.nodes.append(made)
        return made

    def feeding_host(self) -> set[PlaceVar]:
        """The values that a dataset holds, and what they are computed from."""
        found = {node.find() for node in self.nodes if node.find().host_required_at is not None}
        queue = list(found)
        while queue:
            for source in queue.pop().flows_from:
                root = source.find()
                if root not in found:
                    found.add(root)
                    queue.append(root)
        return found

    def pin(
        self, node: PlaceVar, place: Place, spot: Location | None, name: str = "",
        cause: Cause = Cause.CODE,
    ) -> None:  # fmt: skip
        """Say where `node` certainly is. What was said first counts."""
        node = node.find()
        if node.pin is None:
            node.pin, node.pin_spot, node.name, node.cause = place, spot, name, cause
            node.open = self.open

    def same(self, left: PlaceVar, right: PlaceVar) -> None:
        """Merge two nodes."""
        left, right = left.find(), right.find()
        if left is right:
            return
        if len(left.meets) + len(left.flows_to) < len(right.meets) + len(right.flows_to):
            left, right = right, left
        right._parent = left
        if left.pin is None:
            left.pin, left.pin_spot, left.name = right.pin, right.pin_spot, right.name
            left.cause, left.open = right.cause, right.open
        left.host_required_at = left.host_required_at or right.host_required_at
        left.is_tensor = left.is_tensor or right.is_tensor
        left.agrees = left.agrees or right.agrees
        left.joins = left.joins and right.joins
        left.read_there = left.read_there or right.read_there
        for attribute in (
            "spots", "meets", "flows_to", "flows_from", "drawn_from", "indexes", "indexed_by",
            "stored",
        ):  # fmt: skip
            moved = getattr(right, attribute)
            if moved:
                known = getattr(left, attribute)
                setattr(left, attribute, known + moved if known is NONE else known)
                if known is not NONE:
                    known.extend(moved)

    def meet(
        self,
        left: PlaceVar,
        left_spot: Location,
        right: PlaceVar,
        right_spot: Location,
        op: Location,
        function: ast.AST | None = None,
        kind: str = "meets",
    ) -> None:
        """Demand that two operands of `op`, which `function` does, share a place."""
        if left.find() is right.find():
            return
        made = Agree(left, right, left_spot, right_spot, op, kind, function, self.open, self.aside)
        self.meetings.append(made)
        left, right = left.find(), right.find()
        left.meets = add(left.meets, made)
        right.meets = add(right.meets, made)

    def flow(self, source: PlaceVar, target: PlaceVar) -> None:
        """Say that `target` is wherever `source` is."""
        source, target = source.find(), target.find()
        if source is not target:
            source.flows_to = add(source.flows_to, target)
            target.flows_from = add(target.flows_from, source)

    def joined(self, *sources: PlaceVar) -> PlaceVar:
        """Return a node for one of several values, depending on the path."""
        made = self.node()
        made.joins = True
        for source in sources:
            self.flow(source, made)
        return made

    def batch(self, source: PlaceVar, target: PlaceVar) -> None:
        """Say that `target` is a batch drawn from `source`: on the device only if that was."""
        target = target.find()
        target.drawn_from = add(target.drawn_from, source)

    def store(self, source: PlaceVar, target: PlaceVar) -> None:
        """Say that items of `target` are set to `source`, which copies across devices."""
        target = target.find()
        target.stored = add(target.stored, source)

    def index(
        self,
        base: PlaceVar,
        base_spot: Location,
        index: PlaceVar,
        index_spot: Location,
        op: Location,
        function: ast.AST | None = None,
        kind: str = "index",
    ) -> None:
        """Say that `base` is indexed by the tensor `index`, or computed with the number it is."""
        if base.find() is index.find():
            return
        made = Agree(base, index, base_spot, index_spot, op, kind, function, self.open, self.aside)
        self.meetings.append(made)
        base, index = base.find(), index.find()
        base.indexed_by = add(base.indexed_by, made)
        index.indexes = add(index.indexes, made)

    def forget_aside(self) -> None:
        """Forget what code says whose values are apart from all others."""
        if not any(_is_apart(meet) for meet in self.meetings):
            return
        self.meetings = [meet for meet in self.meetings if not _is_apart(meet)]
        for node in self.nodes:
            if node._parent is node:
                for attribute in ("meets", "indexes", "indexed_by"):
                    known: list[Agree] = getattr(node, attribute)
                    if any(map(_is_apart, known)):
                        setattr(node, attribute, [m for m in known if not _is_apart(m)])

    def release(self) -> None:
        """Take the graph apart to free its memory; it cannot be used any more."""
        for node in self.nodes:
            node._parent = None  # type: ignore[assignment]
            node.meets = node.flows_to = node.flows_from = node.drawn_from = NONE
            node.indexes = node.indexed_by = node.stored = NONE
        self.nodes, self.meetings, self.clashes, self.clashing = [], [], [], set()

    def solve(self) -> None:
        """Find the place of every node, and every clash. May be called again after more pins."""
        self.clashes = []
        roots = [node for node in self.nodes if node._parent is node]
        for node in roots:
            node.place = node.reason = None
            node.weak_host = False
        self._batches(roots)
        _agree_within(roots)
        self._spread_certain(roots)
        for place in ON_DEVICE:
            self._spread_demand(roots, place)
        if self._settle_stores(roots):
            for place in ON_DEVICE:
                self._spread_demand(roots, place)
        self._find_clashes(roots)
        self.clashing = {clash.node.find() for clash in self.clashes}

    def _batches(self, roots: list[PlaceVar]) -> None:
        """A dataset that was put on the device yields batches there."""
        for node in roots:
            for source in node.drawn_from:
                origin = source.find()
                if origin.pin in (Place.CENTRAL, Place.FIXED) and node.pin is None:
                    node.pin, node.pin_spot = origin.pin, origin.pin_spot

    def _spread_certain(self, roots: list[PlaceVar]) -> None:
        """Colour what is pinned and what is computed from it."""
        for node in roots:
            if node.pin is not None:
                node.place, node.reason = node.pin, node.pin_spot
            elif node.host_required_at is not None:
                node.place, node.reason = Place.HOST, node.host_required_at
        for place in (Place.CENTRAL, Place.FIXED, Place.FOLLOWS, Place.HOST):
            queue = deque(node for node in roots if node.place is place)
            reached: list[PlaceVar] = []
            while queue:
                node = queue.popleft()
                for target in node.flows_to:
                    result = target.find()
                    if place is Place.FOLLOWS and _decides_nothing(node, result):
                        continue
                    if result.place is None:
                        result.place, result.reason = place, node.reason
                        result.weak_host = place is Place.HOST
                        queue.append(result)
                        reached.append(result)
            if place in ON_DEVICE:
                _take_back_mixed(reached)

    def _spread_demand(self, roots: list[PlaceVar], place: Place) -> None:
        """Colour what has no place of its own and meets `place`."""
        # What only might be a tensor demands nothing of others.
        queue = deque(
            node for node in roots
            if node.place is place and (node.is_tensor or place is not Place.FOLLOWS)
        )  # fmt: skip
        demanded: set[int] = set()

        def demand(other: PlaceVar, because: Location | None) -> None:
            """Require a value to be there, and all that it may be: on some path it may be
            undecided."""
            other = other.find()
            if id(other) in demanded or other.kept:
                return  # where a later call needs it says nothing of an earlier one's input
            if other.place is None:
                other.place, other.reason = place, because
            elif other.place is not place or not other.joins:
                return
            demanded.add(id(other))
            queue.append(other)

        while queue:
            node = queue.popleft()
            for meet in node.meets:
                other = meet.right if meet.left.find() is node else meet.left
                demand(other, meet.operation)
            for meet in node.indexes:
                demand(meet.left, meet.operation)
            for target in node.flows_to:
                result = target.find()
                if _is_mixed(result):
                    continue
                if result.place is None or result.weak_host:
                    result.place, result.reason, result.weak_host = place, node.reason, False
                    queue.append(result)
            # One branch on the device says nothing about the other; being used there does.
            if node.flows_from and (
                node.agrees or node.cause is Cause.SEED or id(node) in demanded or self._meets(node)
            ):
                for source in node.flows_from:
                    demand(source, node.reason)

    @staticmethod
    def _settle_stores(roots: list[PlaceVar]) -> bool:
        """Put what has no place of its own where everything that is stored in it is."""
        changed = False
        for node in roots:
            if node.place is None and node.stored and node.is_tensor and not node.read_there:
                filling = {source.find().place for source in node.stored}
                met = (m.right if m.left.find() is node else m.left for m in node.meets)
                if any(other.find().place not in filling for other in met):
                    continue  # it is filled across devices, and what it meets is elsewhere
                if len(filling) == 1 and filling <= set(ON_DEVICE):
                    node.place, node.reason = filling.pop(), None
                    changed = True
        return changed

    @staticmethod
    def _meets(node: PlaceVar) -> bool:
        """Tell whether a node is used together with something on the device."""
        for meet in node.meets:
            other = (meet.right if meet.left.find() is node else meet.left).find()
            if other.place in ON_DEVICE:
                return True
        return any(meet.right.find().place in ON_DEVICE for meet in node.indexed_by)

    def _find_clashes(self, roots: list[PlaceVar]) -> None:
        seen: set[int] = set()
        for node in roots:
            for meet in node.meets + node.indexes:
                if id(meet) in seen:
                    continue
                seen.add(id(meet))
                left, right = meet.left.find(), meet.right.find()
                if left.place is None or right.place is None or left.place is right.place:
                    if not (left.place is right.place is Place.FIXED and left.name != right.name):
                        continue
                if meet.kind in ("index", "number"):
                    # cuda[cpu] is allowed, cpu[cuda] is not: the index goes to the host.
                    if right.place in ON_DEVICE and left.place is Place.HOST:
                        self.clashes.append(Clash(right, meet.right_spot, meet, left, True))
                elif left.place is Place.HOST:
                    self.clashes.append(Clash(left, meet.left_spot, meet, right))
                elif right.place is Place.HOST:
                    self.clashes.append(Clash(right, meet.right_spot, meet, left))
                elif Place.FIXED in (left.place, right.place):
                    self.clashes.append(Clash(left, meet.left_spot, meet, right))


def _is_apart(meet: Agree) -> bool:
    return meet.aside is not None and meet.aside.apart


def _agree_within(roots: list[PlaceVar]) -> None:
    """Members that an operation needs in one place agree, however often they were joined."""
    queue = [node for node in roots if node.agrees]
    while queue:
        for each in queue.pop().flows_from:
            source = each.find()
            if source.joins and not source.agrees:
                source.agrees = True
                queue.append(source)


def _decides_nothing(node: PlaceVar, result: PlaceVar) -> bool:
    """Tell whether what may be a number is computed with a tensor, which alone says where it is."""
    if node.is_tensor or result.joins:
        return False
    others = (source.find() for source in result.flows_from)
    return any(other is not node and other.is_tensor and other.place is None for other in others)


def _is_mixed(node: PlaceVar) -> bool:
    """Tell whether a joined value has nothing to put it on the device on some of its paths.

    What an operation needs in one place (the members of a list that are stacked) is not mixed, and
    what is computed from the joined value itself (in a loop) says nothing against it.
    """
    if not node.joins or node.agrees:
        return False
    for each in node.flows_from:
        source = each.find()
        if source.place in ON_DEVICE:
            continue
        if source.place is not None or not comes_from(source, node):
            return True
    return False


def comes_from(value: PlaceVar, origin: PlaceVar) -> bool:
    """Tell whether a value is computed from another one, as far as few steps show."""
    queue, seen = [value], {value}
    while queue:
        node = queue.pop()
        if node is origin:
            return True
        for each in node.flows_from:
            source = each.find()
            if source not in seen and len(seen) < _STEPS:
                seen.add(source)
                queue.append(source)
    return False


def _take_back_mixed(reached: list[PlaceVar]) -> None:
    """Uncolour joined values that are on the device on some paths only, and what rests on them.

    What a loop carries is joined with itself: it stays coloured as long as nothing else speaks
    against it.
    """
    queue = [node for node in reached if _is_mixed(node)]
    while queue:
        node = queue.pop()
        if node.place is None:
            continue
        node.place, node.reason = None, None
        for target in node.flows_to:
            result = target.find()
            if (
                result.pin is not None
                or result.place is None
                or result.host_required_at is not None
            ):
                continue
            if result.joins or not any(
                source.find().place is result.place for source in result.flows_from
            ):
                queue.append(result)
