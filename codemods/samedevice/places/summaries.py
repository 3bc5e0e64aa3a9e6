"""What one evaluation of a function did, and what of it has to be done again for another call.

A template is an evaluation with stand-ins for the arguments (`symbols.py`). A call needs no
evaluation then: it does again what can be noticed from outside (`repeating.py`). So the first call
and the thousandth are judged alike, whatever their order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from samedevice.places.environment import Path, Store
from samedevice.places.focus import Target
from samedevice.places.graph import Agree, PlaceVar
from samedevice.places.objects import Func, Instance, Method, Partial, Scope, Super, Union
from samedevice.places.sites import Site
from samedevice.places.symbols import Given, Part, Symbols, Whole, state
from samedevice.places.values import NUMBERS, Device, Dict, FunctionNode, Iter, Seq, Tensor, Value

if TYPE_CHECKING:
    from samedevice.places.context import Passed
    from samedevice.places.interpret import Interpreter

#: Nodes that are copied for one call: those nearest to the arguments and to the result.
_NODES = 300
#: What a site says of the code, which is the same for each call.
_OF_CODE = frozenset(each.name for each in fields(Site)) - {"node", "devices", "tensors"}


@dataclass(frozen=True)
class Record:
    """One evaluation: what was given, and what came out."""

    given: Given
    result: Value


@dataclass(frozen=True)
class Marks:
    """How much there was of everything when an evaluation began."""

    nodes: int
    meets: int
    drawn: int
    stored: int
    sites: int
    seeds: int
    held: int
    handed: int
    number: int
    trail: int
    path: Path | None

    @classmethod
    def of(cls, run: Interpreter) -> Marks:
        """Return how much there is by now."""
        graph = run.graph
        return cls(
            len(graph.nodes), len(graph.meetings), len(graph.drawn), len(graph.stored),
            len(run.sites), len(run.seeds), len(run.held), len(run.handed), next(NUMBERS),
            run.trail.mark(), run.path,
        )  # fmt: skip


class Template:
    """One evaluation of a function with stand-ins: what has to be done again for a call."""

    def __init__(self, run: Interpreter, symbols: Symbols, result: Value, marks: Marks) -> None:
        graph = run.graph
        self.run, self.parts, self.result, self.marks = run, symbols.parts, result, marks
        self.sites = run.sites[marks.sites :]
        del run.sites[marks.sites :]
        self.seeds, self.held = run.seeds[marks.seeds :], run.held[marks.held :]
        del run.seeds[marks.seeds :], run.held[marks.held :]
        self.handed = _once(run.handed[marks.handed :])
        del run.handed[marks.handed :]
        self.told: set[Target] = set()  # the units for which it was repeated
        self.own_sites = {id(site) for site in self.sites}
        self.stands = {id(each.stand): n for n, each in enumerate(self.parts)}
        for n, each in enumerate(self.parts):  # their attributes and members are written by these
            if isinstance(each.stand, Instance):
                self.stands[id(each.stand.attrs)] = n
            elif isinstance(each.stand, Dict):
                self.stands[id(each.stand.items)] = n
        self.written = [cell for cell in run.trail.written(marks.trail) if self.lasts(cell[0])]
        self.changed = [n for n, each in enumerate(self.parts) if _is_changed(each)]
        self.stand_roots: dict[PlaceVar, int] = {}
        for n, each in enumerate(self.parts):
            if each.node is not None:
                self.stand_roots.setdefault(each.node.find(), n)
        self._seen: set[int] = set()
        self._needed: set[int] = {*self.changed}
        self._roots: dict[PlaceVar, None] = {}
        self._visit_all()
        self.meets: list[Agree] = []
        self.edges: list[tuple[str, PlaceVar, PlaceVar]] = []
        self.copied = self._reached(graph.meetings[marks.meets :])
        self._relate(graph.meetings[marks.meets :])
        self.needed = self._ways()
        places = [self.parts[n].node for n in self.needed]
        roots = dict.fromkeys(node.find() for node in places if node is not None)
        self.free = [root for root in roots if self.is_inside(root)]
        again = self.copied, self.edges, self.meets, self.sites, self.handed
        self.size = sum(map(len, again))

    def is_inside(self, root: PlaceVar) -> bool:
        """Tell whether a place was not there before the evaluation."""
        return root.number >= self.marks.nodes

    def lasts(self, target: Store) -> bool:
        """Tell whether something is there when the function has returned: it was before."""
        born = getattr(target, "born", -1)
        return id(target) in self.stands or born < self.marks.number

    # -- what can be noticed from outside -------------------------------------------------------

    def _visit_all(self) -> None:
        self._visit(self.result)
        for target, _, _, now in self.written:
            if id(target) in self.stands:
                self._needed.add(self.stands[id(target)])
            for value in _values(now):
                self._visit(value)
        for n in self.changed:
            stand = self.parts[n].stand
            assert isinstance(stand, Instance)
            self._node(stand.node)
            for value in (stand.parent, *stand.borrows, *stand.parts):
                if value is not None:
                    self._visit(value)

    def _node(self, node: PlaceVar | None) -> None:
        if node is not None:
            self._roots[node.find()] = None

    def _visit(self, value: Whole) -> None:
        """Note the places in a value, and the stand-ins."""
        known = self.stands.get(id(value))
        if known is not None:
            self._needed.add(known)
        if isinstance(value, (Tensor, Device)):
            self._node(value.node)
            if isinstance(value, Tensor) and value.owner is not None:
                self._visit(value.owner)
            return
        if known is not None or id(value) in self._seen:
            return
        if getattr(value, "born", self.marks.number) < self.marks.number:
            return
        self._seen.add(id(value))
        if isinstance(value, Instance):
            self._node(value.node)
        for inner in _inner(value):
            self._visit(inner)

    # -- what has to be made again ----------------------------------------------------------------

    def _reached(self, meets: list[Agree]) -> list[PlaceVar]:
        """Return the places made in the evaluation that have to do with what is outside."""
        near: dict[PlaceVar, list[PlaceVar]] = {}
        graph, marks = self.run.graph, self.marks
        pairs = [(meet.left, meet.right) for meet in meets]
        pairs += [*graph.drawn[marks.drawn :], *graph.stored[marks.stored :]]
        for one, other in pairs:
            left, right = one.find(), other.find()
            near.setdefault(left, []).append(right)
            near.setdefault(right, []).append(left)
        found: dict[PlaceVar, None] = {}
        queue = deque(self.stand_roots)
        for root in self._roots:
            if self.is_inside(root) and root not in self.stand_roots:
                found[root] = None
                queue.append(root)
        while queue and len(found) < _NODES:
            node = queue.popleft()
            if not self.is_inside(node):
                continue
            for each in (*node.flows_to, *node.flows_from, *near.get(node, ())):
                root = each.find()
                if root not in found and root not in self.stand_roots and self.is_inside(root):
                    found[root] = None
                    queue.append(root)
        return list(found)

    def _relate(self, meets: list[Agree]) -> None:
        """Keep the relations of what is made again."""
        ours = {*self.copied, *(root for root in self.stand_roots if self.is_inside(root))}
        edges: dict[tuple[str, PlaceVar, PlaceVar], None] = {}
        for root in ours:
            for each in root.flows_from:
                edges["flow", each.find(), root] = None
            for each in root.flows_to:
                edges["flow", root, each.find()] = None
        graph, marks = self.run.graph, self.marks
        for name, pairs in (("batch", graph.drawn[marks.drawn :]),
                            ("store", graph.stored[marks.stored :])):  # fmt: skip
            for source, target in pairs:
                if source.find() in ours or target.find() in ours:
                    edges[name, source.find(), target.find()] = None
        self.edges = list(edges)
        found = (m for m in meets if m.left.find() in ours or m.right.find() in ours)
        self.meets = list({_said(meet): meet for meet in found}.values())

    def _ways(self) -> list[int]:
        """Return the stand-ins that have to be found in a call's arguments, in order."""
        related = {root for _, *pair in self.edges for root in pair}
        related.update(m.find() for meet in self.meets for m in (meet.left, meet.right))
        for site in self.sites:
            related.update(node.find() for node in _nodes(site))
        many: dict[PlaceVar, int] = {}
        for each in self.parts:
            if each.node is not None:
                root = each.node.find()
                many[root] = many.get(root, 0) + 1
        for n, each in enumerate(self.parts):
            if each.node is None:
                continue
            root = each.node.find()
            if (
                root in related
                or root in self._roots
                or many[root] > 1
                or not self.is_inside(root)
                or root.pin is not None
                and not isinstance(each.stand, Device)
                or root.host_required_at is not None
                or root.read_there
                or root.is_tensor is not each.is_tensor
            ):
                self._needed.add(n)
        for site in self.sites:
            found = (self.stands.get(id(held)) for held in _held_by(site))
            self._needed.update(n for n in found if n is not None)
        for n in list(self._needed):
            above = self.parts[n].above
            while above >= 0 and above not in self._needed:
                self._needed.add(above)
                above = self.parts[above].above
        return sorted(self._needed)


_TOLD: dict[type[Site], tuple[str, ...]] = {}


def told_by(site: Site) -> tuple[str, ...]:
    """Return the fields of an event that may speak of values."""
    known = _TOLD.get(type(site))
    if known is None:
        names = (each.name for each in fields(site))
        known = _TOLD[type(site)] = tuple(name for name in names if name not in _OF_CODE)
    return known


def _held_by(site: Site) -> Iterator[Value]:
    """Yield the values that an event speaks of."""
    queue = [getattr(site, name) for name in told_by(site)]
    while queue:
        held = queue.pop()
        if isinstance(held, Value):
            yield held
        elif type(held) in (list, tuple):
            queue += held
        elif type(held) is dict:
            queue += held.values()


def _nodes(site: Site) -> Iterator[PlaceVar]:
    """Yield the places that an event speaks of."""
    if site.node is not None:
        yield site.node
    for value in _held_by(site):
        node = getattr(value, "node", None)
        if isinstance(node, PlaceVar):
            yield node
    for _, node in site.tensors:
        yield node


def _said(meet: Agree) -> object:
    """Return what a meeting says: rounds of a loop say the same."""
    spots = meet.operation.node, meet.left_spot.node, meet.right_spot.node
    return meet.left.find(), meet.right.find(), meet.kind, meet.function, *spots


def _once(
    handed: list[tuple[FunctionNode, Passed | None]],
) -> list[tuple[FunctionNode, Passed | None]]:
    """Return what was passed to functions, each once."""
    found = {
        (function, *((one[0].find(), one[1].node, one[2]) if one is not None else ())): one
        for function, one in handed
    }
    return [(key[0], one) for key, one in found.items()]


def _is_changed(each: Part) -> bool:
    return isinstance(each.stand, Instance) and state(each.stand) != each.before


def _values(held: Any) -> Iterable[Any]:
    """Return the values in a cell."""
    if isinstance(held, tuple):  # of a list: its members, and what was added
        items, element, added = held
        yield from items or ()
        yield from (value for value, _ in added or ())
        held = element
    if held is not None:
        yield held


def _inner(value: Whole) -> Iterator[Whole]:
    """Yield the parts of a value."""
    match value:
        case Seq():
            yield from value.members()
            yield from (each for each, _ in value.added or ())
        case Dict():
            yield from value.members()
        case Iter():
            inner = (value.element, value.source, value.result, value.received)
            yield from (each for each in inner if each is not None)
        case Instance():
            yield from value.attrs.values()
            yield from (*value.args, *value.kwargs.values(), *value.borrows, *value.parts)
            if value.parent is not None:
                yield value.parent
        case Scope():
            yield from value.names.values()
            if isinstance(value.self_value, Value):
                yield value.self_value
            if value.outer is not None:
                yield value.outer
        case Func():
            yield value.scope
            if value.bound is not None:
                yield value.bound
        case Union():
            yield from value.options
        case Partial():
            yield value.callee
            yield from (each for each, _ in (*value.args, *value.kwargs.values()))
        case Method():
            yield value.receiver
        case Super():
            yield value.obj
