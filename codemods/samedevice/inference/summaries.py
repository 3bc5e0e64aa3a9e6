"""What one evaluation of a function did, and how it is repeated for other arguments.

An evaluation is kept as the range of nodes, meetings and sites that it made. Another call with
arguments of the same shape needs no evaluation: the nodes that depend on the arguments are made
again, with the relations between them, and stand for the new ones. So the first call and the
thousandth are judged alike, whatever the order of the calls.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from samedevice.inference import assignment, moving
from samedevice.inference.contents import is_closure
from samedevice.inference.events import Creation, HostDemand
from samedevice.inference.nodes import Agree, Location, PlaceVar
from samedevice.inference.objects import Class, External, Func, Instance, Partial
from samedevice.inference.open_events import Escaped, Handed, Undecided
from samedevice.inference.sites import Site
from samedevice.inference.values import DEEP, Const, Device, Dict, Iter, Seq, Tensor, Value

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: The values of a call by position and name, and what the function is bound to ("self").
Given = dict[int | str, Value]
#: Nodes that are copied for one call: those nearest to the arguments.
_NODES = 300
#: Nodes of an evaluation, with what it called, beyond which only its result is taken.
_LARGEST = 2_000
#: Sites that say where a value has to be; others tell only of the code, which is the same.
_REPEATED = (Creation, Handed, HostDemand, Undecided)


_Event = TypeVar("_Event", bound=Site)


@dataclass(frozen=True)
class Record:
    """One evaluation: what was given, what came out, and the ranges of what it made."""

    given: Given
    result: Value
    nodes: tuple[int, int]
    meets: tuple[int, int]
    sites: tuple[Site, ...] = ()
    # attributes of arguments that it sets, and the argument that each is, if it is one
    stores: tuple[tuple[int | str, str, Value, int | str | None], ...] = ()
    moved: tuple[
        tuple[int | str, PlaceVar, Location], ...
    ] = ()  # modules that it moves, and where to
    told: list[bool] = field(default_factory=list)  # once it was repeated
    loses: bool = False  # it does to objects and containers, or makes of them, what is not repeated

    @cached_property
    def shapes(self) -> dict[int | str, object]:
        """The shapes of its own arguments."""
        return {name: shape(value) for name, value in self.given.items()}

    def likeness(self, shapes: dict[int | str, object]) -> tuple[bool, int]:
        """Return whether arguments have the shapes of its own, and how many of them have."""
        own = self.shapes
        same = sum(name in own and own[name] == found for name, found in shapes.items())
        return same == len(shapes) == len(own), same


@dataclass
class Records:
    """The evaluations of a function: for each shape of its arguments the first and the latest.

    `late` are those since the program had its free ones.
    """

    late: int = 0
    first: dict[object, Record] = field(default_factory=dict)
    last: dict[object, Record] = field(default_factory=dict)
    _new: list[Record] = field(default_factory=list)

    def add(self, record: Record) -> None:
        """Add an evaluation."""
        self._new.append(record)

    def __bool__(self) -> bool:
        return bool(self.first or self._new)

    def nearest(self, shapes: dict[int | str, object], latest: bool = False) -> Record:
        """Return the first or the latest evaluation with the most similar arguments."""
        for record in self._new:
            key = tuple(record.shapes.items())
            self.first.setdefault(key, record)
            self.last.pop(key, None)
            self.last[key] = record
        self._new.clear()
        known = reversed(self.last.values()) if latest else self.first.values()
        return max(known, key=lambda each: each.likeness(shapes))


def shape(value: Value, depth: int = 3) -> object:
    """Return what of a value decides which way an evaluation goes.

    Where a tensor is decides nothing, where a device is does.
    """
    match value:
        case Tensor():
            return "tensor", value.scalar, value.opaque, value.doubt, value.node.find().is_tensor
        case Const(value=held):
            return "constant", type(held), held if held.__hash__ is not None else None
        case Seq(items=items) if depth:
            parts = tuple(shape(item, depth - 1) for item in items) if items is not None else None
            inner = shape(value.element, depth - 1) if value.element is not None else None
            return value.kind, parts, inner
        case Dict() if depth:
            return "dict", tuple((key, shape(v, depth - 1)) for key, v in value.items.items())
        case Instance(family="module"):
            return "module", value.name, id(value.cls)
        case Instance():
            held = value.attrs.items() if depth > 1 else ()
            attrs = tuple((attr, shape(member, depth - 2)) for attr, member in held)
            return "object", value.family, value.name, id(value.cls), attrs
        case Func(node=node):
            return "function", id(node)
        case Class(node=definition):
            return "class", id(definition)
        case External(name=name):
            return "name", name  # a type, say, or a function
        case Device():
            root = value.node.find()
            return "device", value.text, root.pin, root.name
    return type(value)


def kin(found: object) -> object:
    """Return a shape, or several by name, without which functions, classes and modules it has."""
    match found:
        case dict():
            return {name: kin(each) for name, each in found.items()}
        case ("function" | "class" | "module" as kind, *_):
            return kind
        case ("object", family, _, _, attrs):
            return "object", family, kin(attrs)
        case tuple():
            return tuple(map(kin, found))
    return found


def placeholder(run: Interpreter, value: Value, spot: Location, depth: int = DEEP) -> Value:
    """Return an argument of the same shape that is nowhere yet: nothing else is at its place."""
    match value:
        case Tensor():
            made = value.copy()
            made.node, made.site = run.graph.node(spot), None
            made.node.is_tensor = value.node.find().is_tensor
            return made
        case Device():
            root, free = value.node.find(), run.graph.node(spot)
            free.pin, free.pin_spot = root.pin, root.pin_spot
            free.name, free.cause = root.name, root.cause
            return value.at(free)
        case Instance() if depth > 1 and value.family != "module":
            other = Instance(value.family, value.name, value.cls, value.fact, value.node)
            other.args, other.kwargs, other.site = value.args, value.kwargs, value.site
            for attr, member in value.attrs.items():
                other.attrs[attr] = placeholder(run, member, spot, depth - 2)
            return other
        case Seq() if depth:
            found = value.of(None, None, value.spot)
            if value.items is not None:
                found.items = [placeholder(run, item, spot, depth - 1) for item in value.items]
            if value.element is not None:
                found.element = placeholder(run, value.element, spot, depth - 1)
            return found
        case Dict() if depth:
            members = {k: placeholder(run, v, spot, depth - 1) for k, v in value.items.items()}
            mapping = value.of(members, None, value.spot)
            if value.element is not None:
                mapping.element = placeholder(run, value.element, spot, depth - 1)
            return mapping
        case Iter() if depth:
            return Iter(placeholder(run, value.element, spot, depth - 1), value.source)
    return value


def beforehand(given: Given) -> Given:
    """Return the values of a call as they are before it: it may move its modules."""
    return {name: as_of_now(value) for name, value in given.items()}


def as_of_now(value: Value) -> Value:
    """Return a value as it is, though it be a module that moves later."""
    return copy(value) if isinstance(value, Instance) and value.family == "module" else value


def moves(before: Given, given: Given) -> tuple[tuple[int | str, PlaceVar, Location], ...]:
    """Return which modules a call moved for certain, of what it was given."""
    return tuple(
        (name, value.node, value.moves[-1])
        for name, value in given.items()
        if isinstance(value, Instance) and value.node is not None and value.moves
        if isinstance(was := before[name], Instance) and was.node is not value.node
    )


def again(run: Interpreter, record: Record, given: Given) -> tuple[Value, bool]:
    """Return what a function gives for other arguments, with the same relations and sites.

    And whether all of these are repeated.
    """
    made = _Copy(run, record, given)
    made.relations()
    made.sites()
    made.stores(given)
    made.moves(given)
    return made.value(record.result), made.is_whole


def loses(written: Iterable[tuple[object, object, object]], given: Given, result: Value) -> bool:
    """Tell whether an evaluation does what is not repeated.

    It writes into what its arguments hold, or gives an object or a function that it has made.
    """
    own = {id(value.attrs) for value in given.values() if isinstance(value, Instance)}
    inner = {id(cell) for value in given.values() for cell in _cells(value)} - own
    return _is_made(result) or any(id(target) in inner for target, _, _ in written)


def _cells(value: Value, depth: int = DEEP) -> Iterator[object]:
    """Yield what holds members in a value."""
    if not depth:
        return
    held: Iterable[Value] = ()
    if isinstance(value, Instance):
        yield value.attrs
        held = list(value.attrs.values())
    elif isinstance(value, (Seq, Dict)):
        yield from (value, value.items)
        held = list(value.members())
    for member in held:
        yield from _cells(member, depth - 1)


def _is_made(result: Value, depth: int = 3) -> bool:
    """Tell whether a result is an object or a closure, or holds one."""
    if isinstance(result, Instance):
        return True
    if isinstance(result, Func):
        return is_closure(result)
    if isinstance(result, (Seq, Dict)) and depth:
        return any(_is_made(member, depth - 1) for member in result.members())
    return False


def carries_more(value: Value) -> bool:
    """Tell whether an argument is a function with values of its own, which a shape leaves out."""
    return isinstance(value, Partial) or isinstance(value, Func) and is_closure(value)


def stores(
    written: Iterable[tuple[object, object, object]], given: Given
) -> tuple[tuple[int | str, str, Value, int | str | None], ...]:
    """Return which attributes of its arguments an evaluation has set, of what it has written."""
    owners = {id(value.attrs): name for name, value in given.items() if isinstance(value, Instance)}
    return tuple(
        (
            owners[id(target)], key, as_of_now(value),
            owners.get(id(value.attrs)) if isinstance(value, Instance) else None,
        )
        for target, key, value in written
        if id(target) in owners and isinstance(key, str) and isinstance(value, Value)
    )  # fmt: skip


class _Copy:
    """The nodes of one evaluation that depend on its arguments, copied for others."""

    def __init__(self, run: Interpreter, record: Record, given: Given) -> None:
        self._run, self._record = run, record
        # roots in the evaluation, and the nodes that stand for them
        self._new: dict[PlaceVar, PlaceVar] = {}
        # objects that were paired, and how deep: they hold each other
        self._paired: dict[tuple[int, int], int] = {}
        for name, before in record.given.items():
            if name in given:
                self._match(before, given[name])
        inside: set[PlaceVar] = set()
        self._meets: list[Agree] = []
        #: Whether all that depends on the arguments is copied.
        self.is_whole = run.copies > 0 and record.nodes[1] - record.nodes[0] <= _LARGEST
        if self.is_whole:
            inside = {node.find() for node in run.graph.nodes[slice(*record.nodes)]}
            inside -= self._new.keys()
            self._meets = run.graph.meetings[slice(*record.meets)]
        self._copied = self._reached(inside)
        for root in self._copied:
            self._new[root] = self._twin(root)

    def _match(self, before: Value, now: Value, depth: int = DEEP) -> None:
        """Pair the places of an argument with those of the one that takes its place."""
        depth = max(depth, 0)
        if isinstance(before, (Tensor, Device, Instance)) and isinstance(
            now, (Tensor, Device, Instance)
        ):
            if before.node is not None and now.node is not None:
                if before.node.find() is not now.node.find():
                    self._new.setdefault(before.node.find(), now.node)
            if (
                isinstance(before, Instance)
                and isinstance(now, Instance)
                and before is not now
                and depth > self._paired.get((id(before), id(now)), 0)
            ):
                self._paired[id(before), id(now)] = depth
                for attr, held in before.attrs.items():
                    if attr in now.attrs:
                        self._match(held, now.attrs[attr], depth - 2)
        elif isinstance(before, Seq) and isinstance(now, Seq) and depth:
            for one, other in zip(before.members(), now.members(), strict=False):
                self._match(one, other, depth - 1)
        elif isinstance(before, Dict) and isinstance(now, Dict) and depth:
            for key, held in before.items.items():
                if key in now.items:
                    self._match(held, now.items[key], depth - 1)
        elif isinstance(before, Iter) and isinstance(now, Iter) and depth:
            self._match(before.element, now.element, depth - 1)

    def _reached(self, inside: set[PlaceVar]) -> list[PlaceVar]:
        """Return the nodes made in the evaluation that have to do with its arguments."""
        partners: dict[PlaceVar, list[PlaceVar]] = {}
        for meet in self._meets:
            left, right = meet.left.find(), meet.right.find()
            partners.setdefault(left, []).append(right)
            partners.setdefault(right, []).append(left)
        found: dict[PlaceVar, None] = {}
        queue = deque(self._new)
        room = min(_NODES, self._run.copies)
        while queue and len(found) < room:
            node = queue.popleft()
            for each in (*_related(node), *partners.get(node, ())):
                root = each.find()
                if root in inside and root not in found:
                    found[root] = None
                    queue.append(root)
        self.is_whole = self.is_whole and not queue
        self._run.copies -= len(found) + 1
        return list(found)

    def _twin(self, root: PlaceVar) -> PlaceVar:
        made = self._run.graph.node()
        made.spots = list(root.spots)
        made.pin, made.pin_spot = root.pin, root.pin_spot
        made.name, made.cause, made.open = root.name, root.cause, root.open
        made.is_tensor, made.agrees, made.joins = root.is_tensor, root.agrees, root.joins
        made.host_required_at = root.host_required_at
        return made

    def _at(self, node: PlaceVar) -> PlaceVar:
        root = node.find()
        return self._new.get(root, root)

    def relations(self) -> None:
        """Relate the new nodes as the old ones are."""
        graph = self._run.graph
        for root in self._copied:
            made = self._new[root]
            for source in root.flows_from:
                graph.flow(self._at(source), made)
            for target in root.flows_to:
                if target.find() in self._new and target.find() not in self._copied:
                    graph.flow(made, self._at(target))
            for source in root.drawn_from:
                graph.batch(self._at(source), made)
            for source in root.stored:
                graph.store(self._at(source), made)
        for meet in list(self._meets):
            if meet.left.find() in self._new or meet.right.find() in self._new:
                self._meet(meet)

    def _meet(self, meet: Agree) -> None:
        relate = self._run.graph.index if meet.kind in ("index", "number") else self._run.graph.meet
        relate(
            self._at(meet.left), meet.left_spot, self._at(meet.right), meet.right_spot,
            meet.operation, meet.function, meet.kind,
        )  # fmt: skip

    def sites(self) -> None:
        """Repeat what the evaluation found to be decided or demanded of values that depend."""
        first, self._record.told[:] = not self._record.told, [True]
        for site in self._record.sites:
            if isinstance(site, Escaped):
                if any(node.find() in self._new for node in site.nodes):
                    nodes = tuple(map(self._at, site.nodes))
                    self._run.sites.append(replace(self._site(site), nodes=nodes))
            elif isinstance(site, _REPEATED) and site.node is not None:
                if site.node.find() in self._new:
                    self._run.sites.append(self._site(site))
                elif first and isinstance(site, Creation):
                    site.order = len(self._run.sites)
                    self._run.sites.append(site)  # it is the same for all of them

    def _site(self, site: _Event) -> _Event:
        tensors = [(name, self._at(node)) for name, node in site.tensors]
        assert site.node is not None
        order = len(self._run.sites)
        shown, aside = self._run.shown, self._run.graph.aside
        return replace(
            site, node=self._at(site.node), tensors=tensors, order=order, shown=shown, aside=aside
        )

    def stores(self, given: Given) -> None:
        """Set the attributes of the arguments that the evaluation set of its own."""
        for name, attr, value, source in self._record.stores:
            owner = given.get(name)
            held = given.get(source) if source is not None else None
            if isinstance(owner, Instance) and isinstance(held, Instance):
                if owner.family == held.family == "module":
                    assignment.join_in(self._run, owner, held)
                self._run.trail.put(owner.attrs, attr, held)
            elif isinstance(owner, Instance):
                held = self.value(value)
                if held is value and self._is_made_there(value):
                    assert isinstance(value, Instance) and value.node is not None
                    held = moving.twin(value, value.node)  # the kept one stays as it was
                if isinstance(held, Instance) and held is not value:
                    held.parent = owner
                self._run.trail.put(owner.attrs, attr, held)

    def _is_made_there(self, value: Value) -> bool:
        """Tell whether a module was built in the evaluation."""
        if not isinstance(value, Instance) or value.family != "module" or value.node is None:
            return False
        return any(site is value.site for site in self._record.sites)

    def moves(self, given: Given) -> None:
        """Move the modules that the evaluation moved."""
        for name, node, spot in self._record.moved:
            owner = given.get(name)
            if isinstance(owner, Instance) and owner.family == "module":
                owner.moves.append(spot)
                moving.rebase(self._run, owner, self._at(node))

    def value(self, value: Value, depth: int = DEEP) -> Value:
        """Return a value of the evaluation with the places of this call."""
        match value:
            case Tensor() if value.node.find() in self._new:
                made = value.copy()
                made.node, made.site = self._at(value.node), None
                return made
            case Device() if value.node.find() in self._new:
                return value.at(self._at(value.node))
            case Instance(family="module", node=node) if (
                node is not None and node.find() in self._new
            ):
                return moving.twin(value, self._at(node))
            case Seq() if depth:
                items = value.items
                if items is not None:
                    items = [self.value(item, depth - 1) for item in items]
                element = value.element
                if element is not None:
                    element = self.value(element, depth - 1)
                return value.of(items, element, value.spot)
            case Dict() if depth:
                members = {key: self.value(v, depth - 1) for key, v in value.items.items()}
                element = value.element
                if element is not None:
                    element = self.value(element, depth - 1)
                return value.of(members, element, value.spot)
            case Iter() if depth:
                again = Iter(self.value(value.element, depth - 1), value.source)
                again.inside = tuple((self.value(each), spot) for each, spot in value.inside)
                return again
        return value


def _related(node: PlaceVar) -> Iterable[PlaceVar]:
    yield from node.flows_to
    yield from node.flows_from
    yield from node.drawn_from
    yield from node.stored
