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
from enum import Enum
from typing import Any, TypeVar

T = TypeVar("T")


class Place(Enum):
    """Where a value lives; see the words in the documentation."""

    HOST = "host"
    CENTRAL = "central"
    FIXED = "fixed"
    FOLLOWS = "follows"
    UNKNOWN = "unknown"


class Cause(Enum):
    """Why a value certainly is where it is."""

    CODE = "the code says so"
    SEED = "a program for the CPU is to compute on the device"
    FILE = "it was loaded there"
    TO_CPU = "a module was moved to the CPU"
    UNMOVED = "a module that moves later is still on the CPU"


class Spot:
    """An expression or statement in a file."""

    __slots__ = ("node", "path")

    def __init__(self, path: str, node: ast.AST) -> None:
        self.path = path
        self.node = node


#: Values that are looked at for what one is computed from.
_STEPS = 50
#: What most nodes have to say of a relation; `_add` makes a list of it.
_NONE: list[Any] = []


class Node:
    """The place of one value, to be found."""

    __slots__ = (
        "_parent", "color", "because", "pin", "pin_spot", "spots", "meets", "flows_to",
        "flows_from", "batch_from", "indexes", "indexed_by", "weak_host", "wants_host", "name",
        "cause", "sure", "agrees", "stored", "joins", "read_there",
    )  # fmt: skip

    def __init__(self, spot: Spot | None = None) -> None:
        self._parent: Node = self
        self.color: Place | None = None
        self.because: Spot | None = None
        self.pin: Place | None = None
        self.pin_spot: Spot | None = None
        self.name = ""  # the device, as code names it
        self.cause = Cause.CODE
        self.sure = True
        self.agrees = False
        self.joins = False
        self.read_there = False  # as an array, or to be moved: code expects it on the CPU
        self.stored: list[Node] = _NONE
        self.spots: list[Spot] = [spot] if spot else _NONE
        self.meets: list[Meet] = _NONE
        self.flows_to: list[Node] = _NONE
        self.flows_from: list[Node] = _NONE
        self.batch_from: list[Node] = _NONE
        self.indexes: list[Meet] = _NONE
        self.indexed_by: list[Meet] = _NONE
        self.weak_host = False
        self.wants_host: Spot | None = None

    def find(self) -> Node:
        """Return the representative of all nodes that share this place."""
        root = self
        while root._parent is not root:
            root = root._parent
        node = self
        while node._parent is not root:
            node._parent, node = root, node._parent
        return root


def _add(known: list[T], item: T) -> list[T]:
    """Return a list with one more item: the same one, unless it is that of all."""
    if known is _NONE:
        return [item]
    known.append(item)
    return known


@dataclass(eq=False, slots=True)
class Meet:
    """Two operands of one operation: `left` and `right` with the expressions they enter through."""

    left: Node
    right: Node
    left_spot: Spot
    right_spot: Spot
    operation: Spot
    kind: str = "meets"
    function: ast.AST | None = None


@dataclass(eq=False, slots=True)
class Clash:
    """A value that is certainly elsewhere enters an operation on the device through `spot`."""

    node: Node
    spot: Spot
    meet: Meet
    other: Node
    to_host: bool = False


@dataclass
class Graph:
    """All nodes of one project."""

    nodes: list[Node] = field(default_factory=list)
    meetings: list[Meet] = field(default_factory=list)
    clashes: list[Clash] = field(default_factory=list)
    clashing: set[Node] = field(default_factory=set)

    def node(self, spot: Spot | None = None) -> Node:
        """Return a new node with its own place."""
        made = Node(spot)
        self.nodes.append(made)
        return made

    def pin(
        self, node: Node, place: Place, spot: Spot | None, name: str = "",
        cause: Cause = Cause.CODE,
    ) -> None:  # fmt: skip
        """Say where `node` certainly is. What was said first counts."""
        node = node.find()
        if node.pin is None:
            node.pin, node.pin_spot, node.name, node.cause = place, spot, name, cause

    def same(self, left: Node, right: Node) -> None:
        """Merge two nodes."""
        left, right = left.find(), right.find()
        if left is right:
            return
        if len(left.meets) + len(left.flows_to) < len(right.meets) + len(right.flows_to):
            left, right = right, left
        right._parent = left
        if left.pin is None:
            left.pin, left.pin_spot, left.name = right.pin, right.pin_spot, right.name
            left.cause = right.cause
        left.wants_host = left.wants_host or right.wants_host
        left.sure = left.sure or right.sure
        left.agrees = left.agrees or right.agrees
        left.joins = left.joins and right.joins
        left.read_there = left.read_there or right.read_there
        for attribute in (
            "spots", "meets", "flows_to", "flows_from", "batch_from", "indexes", "indexed_by",
            "stored",
        ):  # fmt: skip
            moved = getattr(right, attribute)
            if moved:
                known = getattr(left, attribute)
                setattr(left, attribute, known + moved if known is _NONE else known)
                if known is not _NONE:
                    known.extend(moved)

    def meet(
        self, left: Node, left_spot: Spot, right: Node, right_spot: Spot, op: Spot,
        function: ast.AST | None = None, kind: str = "meets",
    ) -> None:  # fmt: skip
        """Demand that two operands of `op`, which `function` does, share a place."""
        if left.find() is right.find():
            return
        made = Meet(left, right, left_spot, right_spot, op, kind, function)
        self.meetings.append(made)
        left, right = left.find(), right.find()
        left.meets = _add(left.meets, made)
        right.meets = _add(right.meets, made)

    def flow(self, source: Node, target: Node) -> None:
        """Say that `target` is wherever `source` is."""
        source, target = source.find(), target.find()
        if source is not target:
            source.flows_to = _add(source.flows_to, target)
            target.flows_from = _add(target.flows_from, source)

    def joined(self, *sources: Node) -> Node:
        """Return a node for one of several values, depending on the path."""
        made = self.node()
        made.joins = True
        for source in sources:
            self.flow(source, made)
        return made

    def batch(self, source: Node, target: Node) -> None:
        """Say that `target` is a batch drawn from `source`: on the device only if that was."""
        target = target.find()
        target.batch_from = _add(target.batch_from, source)

    def store(self, source: Node, target: Node) -> None:
        """Say that items of `target` are set to `source`, which copies across devices."""
        target = target.find()
        target.stored = _add(target.stored, source)

    def index(
        self, base: Node, base_spot: Spot, index: Node, index_spot: Spot, op: Spot,
        function: ast.AST | None = None, kind: str = "index",
    ) -> None:  # fmt: skip
        """Say that `base` is indexed by the tensor `index`, or computed with the number it is."""
        if base.find() is index.find():
            return
        made = Meet(base, index, base_spot, index_spot, op, kind, function)
        self.meetings.append(made)
        base, index = base.find(), index.find()
        base.indexed_by = _add(base.indexed_by, made)
        index.indexes = _add(index.indexes, made)

    def release(self) -> None:
        """Take the graph apart to free its memory; it cannot be used any more."""
        for node in self.nodes:
            node._parent = None  # type: ignore[assignment]
            node.meets = node.flows_to = node.flows_from = node.batch_from = _NONE
            node.indexes = node.indexed_by = node.stored = _NONE
        self.nodes, self.meetings, self.clashes, self.clashing = [], [], [], set()

    def solve(self) -> None:
        """Find the place of every node, and every clash. May be called again after more pins."""
        self.clashes = []
        roots = [node for node in self.nodes if node._parent is node]
        for node in roots:
            node.color = node.because = None
            node.weak_host = False
        self._batches(roots)
        _agree_within(roots)
        self._spread_certain(roots)
        for place in (Place.CENTRAL, Place.FOLLOWS):
            self._spread_demand(roots, place)
        if self._settle_stores(roots):
            for place in (Place.CENTRAL, Place.FOLLOWS):
                self._spread_demand(roots, place)
        self._find_clashes(roots)
        self.clashing = {clash.node.find() for clash in self.clashes}

    def _batches(self, roots: list[Node]) -> None:
        """A dataset that was put on the device yields batches there."""
        for node in roots:
            for source in node.batch_from:
                origin = source.find()
                if origin.pin in (Place.CENTRAL, Place.FIXED) and node.pin is None:
                    node.pin, node.pin_spot = origin.pin, origin.pin_spot

    def _spread_certain(self, roots: list[Node]) -> None:
        """Colour what is pinned and what is computed from it."""
        for node in roots:
            if node.pin is not None:
                node.color, node.because = node.pin, node.pin_spot
            elif node.wants_host is not None:
                node.color, node.because = Place.HOST, node.wants_host
        for place in (Place.CENTRAL, Place.FIXED, Place.FOLLOWS, Place.HOST):
            queue = deque(node for node in roots if node.color is place)
            reached: list[Node] = []
            while queue:
                node = queue.popleft()
                for target in node.flows_to:
                    result = target.find()
                    if result.color is None:
                        result.color, result.because = place, node.because
                        result.weak_host = place is Place.HOST
                        queue.append(result)
                        reached.append(result)
            if place in (Place.CENTRAL, Place.FOLLOWS):
                _take_back_mixed(reached)

    def _spread_demand(self, roots: list[Node], place: Place) -> None:
        """Colour what has no place of its own and meets `place`."""
        # What only might be a tensor demands nothing of others.
        queue = deque(
            node for node in roots
            if node.color is place and (node.sure or place is not Place.FOLLOWS)
        )  # fmt: skip
        demanded: set[int] = set()

        def demand(other: Node, because: Spot | None) -> None:
            """Require a value to be there, and all that it may be: on some path it may be
            undecided."""
            other = other.find()
            if id(other) in demanded:
                return
            if other.color is None:
                other.color, other.because = place, because
            elif other.color is not place or not other.joins:
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
                if result.color is None or result.weak_host:
                    result.color, result.because, result.weak_host = place, node.because, False
                    queue.append(result)
            # One branch on the device says nothing about the other; being used there does.
            if node.flows_from and (
                node.agrees or node.cause is Cause.SEED or id(node) in demanded or self._meets(node)
            ):
                for source in node.flows_from:
                    demand(source, node.because)

    @staticmethod
    def _settle_stores(roots: list[Node]) -> bool:
        """Put what has no place of its own where everything that is stored in it is."""
        changed = False
        for node in roots:
            if node.color is None and node.stored and node.sure and not node.read_there:
                filling = {source.find().color for source in node.stored}
                met = (m.right if m.left.find() is node else m.left for m in node.meets)
                if any(other.find().color not in filling for other in met):
                    continue  # it is filled across devices, and what it meets is elsewhere
                if len(filling) == 1 and filling <= {Place.CENTRAL, Place.FOLLOWS}:
                    node.color, node.because = filling.pop(), None
                    changed = True
        return changed

    @staticmethod
    def _meets(node: Node) -> bool:
        """Tell whether a node is used together with something on the device."""
        for meet in node.meets:
            other = (meet.right if meet.left.find() is node else meet.left).find()
            if other.color in (Place.CENTRAL, Place.FOLLOWS):
                return True
        return any(
            meet.right.find().color in (Place.CENTRAL, Place.FOLLOWS) for meet in node.indexed_by
        )

    def _find_clashes(self, roots: list[Node]) -> None:
        seen: set[int] = set()
        for node in roots:
            for meet in node.meets + node.indexes:
                if id(meet) in seen:
                    continue
                seen.add(id(meet))
                left, right = meet.left.find(), meet.right.find()
                if left.color is None or right.color is None or left.color is right.color:
                    if not (left.color is right.color is Place.FIXED and left.name != right.name):
                        continue
                on_device = (Place.CENTRAL, Place.FOLLOWS)
                if meet.kind in ("index", "number"):
                    # cuda[cpu] is allowed, cpu[cuda] is not: the index goes to the host.
                    if right.color in on_device and left.color is Place.HOST:
                        self.clashes.append(Clash(right, meet.right_spot, meet, left, True))
                elif left.color is Place.HOST:
                    self.clashes.append(Clash(left, meet.left_spot, meet, right))
                elif right.color is Place.HOST:
                    self.clashes.append(Clash(right, meet.right_spot, meet, left))
                elif Place.FIXED in (left.color, right.color):
                    self.clashes.append(Clash(left, meet.left_spot, meet, right))


def _agree_within(roots: list[Node]) -> None:
    """Members that an operation needs in one place agree, however often they were joined."""
    queue = [node for node in roots if node.agrees]
    while queue:
        for each in queue.pop().flows_from:
            source = each.find()
            if source.joins and not source.agrees:
                source.agrees = True
                queue.append(source)


def _is_mixed(node: Node) -> bool:
    """Tell whether a joined value has nothing to put it on the device on some of its paths.

    What an operation needs in one place (the members of a list that are stacked) is not mixed, and
    what is computed from the joined value itself (in a loop) says nothing against it.
    """
    if not node.joins or node.agrees:
        return False
    for each in node.flows_from:
        source = each.find()
        if source.color in (Place.CENTRAL, Place.FOLLOWS):
            continue
        if source.color is not None or not _comes_from(source, node):
            return True
    return False


def _comes_from(value: Node, origin: Node) -> bool:
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


def _take_back_mixed(reached: list[Node]) -> None:
    """Uncolour joined values that are on the device on some paths only, and what rests on them.

    What a loop carries is joined with itself: it stays coloured as long as nothing else speaks
    against it.
    """
    queue = [node for node in reached if _is_mixed(node)]
    while queue:
        node = queue.pop()
        if node.color is None:
            continue
        node.color, node.because = None, None
        for target in node.flows_to:
            result = target.find()
            if result.pin is not None or result.color is None or result.wants_host is not None:
                continue
            if result.joins or not any(
                source.find().color is result.color for source in result.flows_from
            ):
                queue.append(result)
