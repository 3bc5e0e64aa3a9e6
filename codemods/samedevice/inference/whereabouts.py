"""Where values are as the code is written, wherever they have to be."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property

from samedevice.inference.events import (
    Built,
    Cloned,
    Creation,
    Drawn,
    GeneratorMade,
    GivenDevice,
    Loaded,
    Placing,
    PlainTensor,
)
from samedevice.inference.marks import MADE, MOVES
from samedevice.inference.nodes import Cause, Place, PlaceVar
from samedevice.inference.objects import Instance, Union
from samedevice.inference.sites import Site
from samedevice.inference.solution import Solution
from samedevice.inference.tracer import Tracer, members
from samedevice.inference.values import Const, Device, Tensor, Value

#: Places that are looked at for what a value is joined from.
_STEPS = 50
#: What is made without naming a device is on the CPU, whatever it has to meet.
ON_HOST = (Creation, Drawn, Built, GeneratorMade)


class Whereabouts:
    """Follows values back to what decided their places; `sites` are the events by expression."""

    def __init__(self, solution: Solution, tracer: Tracer, sites: Mapping[ast.AST, Site]) -> None:
        self.solution = solution
        self._tracer = tracer
        self._sites = sites
        self._actual: dict[Value, Place] = {}

    def places(self, node: ast.AST, value: Value) -> list[Place]:
        """Return where a value was whenever an expression gave it."""
        if isinstance(value, Union):
            each = (place for option in value.options for place in self.places(node, option))
            return list(dict.fromkeys(each))
        nodes = self._tracer.then.get((node, value), [])
        now = node_of(value)
        before = [each for each in nodes if now is None or each.find() is not now.find()]
        found = [place for each in before for place in self._earlier(value, each)]
        found += [self.place(value)] * (len(before) < len(nodes) or not nodes)
        return found

    def possible(self, node: ast.AST, value: Value) -> list[Place]:
        """Return where a value may be when an expression gives it: on each path that joins in it,
        and whatever is chosen of several things on which the device depends."""
        found = self.places(node, value)
        if found == [self.place(value)]:
            found = self.paths(value)
        if Place.CENTRAL in found and Place.HOST not in found and self._is_rather_chosen(value):
            found.append(Place.HOST)
        elif Place.HOST in found and Place.CENTRAL not in found and self._by_default:
            nodes, now = self._tracer.then.get((node, value), []), _root(value)
            moved = bool(nodes) and all(each.find() is not now for each in nodes)
            if not moved and any(_root(each) in self._by_default for each in self._origins(value)):
                found.append(Place.CENTRAL)  # users may choose it
        return found

    def _is_rather_chosen(self, value: Value) -> bool:
        """Tell whether a value is on the device only if something is chosen on which not all of
        what the program puts there depends: an option beside another one, or beside none."""
        if all(each == self._deciders[0] for each in self._deciders):
            return False
        return any(
            not each.issuperset(own)
            for origin in self._origins(value)
            for own in self._chosen(origin)
            for each in self._deciders
        )

    def _origins(self, value: Value) -> Iterator[Value]:
        """Yield a value and what it is computed from, as far as that is looked at."""
        open_, done = [value], {value}
        while open_ and len(done) < _STEPS:
            at = open_.pop()
            yield at
            new = [source for source in members(at) or self.sources(at) if source not in done]
            done.update(new)
            open_ += new

    @cached_property
    def _by_default(self) -> set[PlaceVar | None]:
        """The places that options decide which say "cpu" by default."""
        options = (node.find() for node in self._tracer.by_default)
        return {root for root in options if root.name.startswith("cpu")}

    def _chosen(self, value: Value) -> Iterator[frozenset[object]]:
        """Yield what had to be chosen for a value to be put where it is."""
        sites = [self.site(value)]
        if isinstance(value, Instance):
            moves = (spot for whole in value.wholes() for spot in whole.moves[-1:])
            sites = [self._sites.get(spot.node) for spot in moves]
        yield from (site.deciders for site in sites if isinstance(site, (Placing, GivenDevice)))

    @cached_property
    def _deciders(self) -> list[frozenset[object]]:
        """What has to be chosen for each of the places that put something on the device."""
        found: list[frozenset[object]] = []
        for site in self._tracer.sites:
            device: Value | None = None
            if isinstance(site, Placing):
                device = site.device
            elif isinstance(site, GivenDevice):
                device = site.device[0]
            if isinstance(device, Device) and self.place(device) is Place.CENTRAL:
                found.append(site.deciders)
        return found

    def _of_parameter(self, value: Value, root: PlaceVar) -> Place | None:
        """Return where a parameter was made that a value is taken from before its module moves."""
        if root.cause is not Cause.UNMOVED or not isinstance(value, Tensor):
            return None
        _, parts = self._tracer.births.get(value, (None, ()))
        lent = [part for part in parts if isinstance(part, Tensor) and part.lent]
        return self._earlier(lent[0], root)[0] if lent else None

    def _earlier(self, value: Value, node: PlaceVar) -> list[Place]:
        """Return where a value was when it was not yet where it is in the end."""
        root = node.find()
        if self.solution.given(root) is not None and root.cause is not Cause.UNMOVED:
            return [self.solution.place(root)]
        if isinstance(value, Instance) and value.copied_from is not None:
            return [self.solution.place(root)]  # with the original
        _, parts = self._tracer.births.get(value, (None, ()))
        if isinstance(value, Tensor) and parts and all(isinstance(p, Tensor) for p in parts):
            return [place for part in parts for place in self._when_given(part)]
        return [Place.HOST]  # its module had not moved

    def _when_given(self, value: Value) -> list[Place]:
        """Return where a value was when an expression first gave it."""
        spot, _ = self._tracer.births.get(value, (None, ()))
        if spot is not None and isinstance(value, Tensor) and value.lent:
            return self.places(spot.node, value)  # a parameter that another module has as well
        return self.paths(value)

    def paths(self, value: Value, depth: int = 4) -> list[Place]:
        """Return where a value is as the code is written, on each path that joins in it."""
        root = node_of(value)
        _, parts = self._tracer.births.get(value, (None, ()))
        if depth and len(parts) > 1 and root is not None and root.find().joins:
            return [place for part in parts for place in self.paths(part, depth - 1)]
        return [self.place(value)]

    def place(self, value: Value) -> Place:
        """Return where a value is as the code is written, wherever it has to be."""
        known = self._actual.get(value)
        if known is None:
            self._actual[value] = Place.UNKNOWN  # of one that is made from itself
            known = self._actual[value] = self._place(value)
        return known

    def _place(self, value: Value) -> Place:
        known = self._decided(value)
        if known is not None:
            return known
        return Place.HOST if self._comes_from_host(value) else self.solution.place(node_of(value))

    def _comes_from_host(self, value: Value) -> bool:
        """Tell whether all that a value is computed from is on the CPU, round a loop as well."""
        open_, found, follows = [value], {value: False}, False
        while open_:
            at = open_.pop()
            for source in members(at) or self.sources(at):
                if source in found:
                    continue
                place = self._actual.get(source)
                if place is None and not members(source):
                    place = self._decided(source)
                if place is None and (members(source) or self.sources(source)):
                    open_.append(source)
                    found[source] = False
                    continue
                place = place or self.solution.place(node_of(source))
                if place not in (Place.HOST, Place.UNKNOWN, Place.FOLLOWS):
                    return False
                follows |= place is Place.FOLLOWS
                found[source] = place is Place.HOST
        if not any(found.values()):
            return False
        if follows and not any(on for one, on in found.items() if isinstance(one, Instance)):
            return False  # a module on the CPU is called with what is there, whoever hands it in
        for each in found:
            if each not in self._actual:
                self._actual[each] = Place.HOST
        return True

    def _decided(self, value: Value) -> Place | None:
        """Return where a value is, None where that depends on what it is computed from."""
        node = node_of(value)
        if node is None or isinstance(value, Union):
            places = {self.place(member) for member in members(value)}
            return places.pop() if len(places) == 1 else Place.UNKNOWN
        # Rules ask what holds whatever a switch says, as users edit it.
        return self._written.get(node.find()) or self._made(value, node)

    def _made(self, value: Value, node: PlaceVar) -> Place | None:
        """Return where what is no union was put, or made, None if it is computed."""
        inferred = self.solution.place(node)
        root = node.find()
        if inferred is Place.CENTRAL and root.name == "cpu":
            return Place.HOST  # the device of a program is "cpu" by now: it is to be chosen
        if inferred in (Place.HOST, Place.FIXED):
            return self._of_parameter(value, root) or inferred
        _, parts = self._tracer.births.get(value, (None, ()))
        site = self.site(value)
        named = [part for part in parts if isinstance(part, Device)]
        if isinstance(site, (Placing, GivenDevice)) and named:
            return self.place(named[-1])
        if not named and _is_moved_as_copy(value):
            return Place.HOST  # what was read from its file was moved, and shares its place
        if self.solution.given(root) is not None:
            return inferred
        if isinstance(value, Device):
            return self.place(parts[0]) if parts else inferred  # `x.device` is where `x` is
        if isinstance(site, (Placing, GivenDevice)):
            told = [source.find() for source in root.flows_from]
            if told and all(self.solution.given(one) is not None for one in told):
                return inferred  # the default of a parameter says where
        if isinstance(value, Instance):
            if _is_empty(value):
                return Place.FOLLOWS  # nothing of it is anywhere: it works where its input is
            return inferred if is_moved(value) else Place.HOST
        if isinstance(site, PlainTensor):
            return self.place(site.value)  # it stays where it was when its module moves
        if isinstance(site, Loaded) and site.mapped is None and not site.into_module:
            return self.place(site.saved) if site.saved is not None else Place.UNKNOWN
        if isinstance(site, Cloned) and not site.callers_unknown:
            return Place.HOST  # its module had not moved
        if type(site) in MADE:
            return Place.HOST if isinstance(site, ON_HOST) else inferred
        # What is of a module that had not moved is on the CPU.
        return Place.HOST if not parts and root in self._left else None

    def site(self, value: Value) -> Site | None:
        """Return the site that made a value, if one did."""
        spot, _ = self._tracer.births.get(value, (None, ()))
        own = value.site if isinstance(value, (Tensor, Instance)) else None
        if own is not None and spot is not None and own.spot.node is spot.node:
            return own  # of this call: another one of the same code may be on another device
        site = self._sites.get(spot.node) if spot is not None else None
        return site if type(site) in (*MADE, *MOVES) else own

    def sources(self, value: Value) -> list[Value]:
        """Return the tensors and modules that a value was made from."""
        _, parts = self._tracer.births.get(value, (None, ()))
        parts = tuple(part for part in parts if value not in members(part))
        if parts and isinstance(value, Tensor) and _is_elsewhere(value, parts):
            return []
        site = value.site if isinstance(value, Tensor) else None
        if isinstance(site, PlainTensor):
            parts = (site.value, *parts)
        if not parts and isinstance(value, Tensor):  # a module's own, or a joined one
            roots = [*(source.find() for source in value.node.flows_from), value.node.find()]
            parts = tuple(self._modules[root] for root in roots if root in self._modules)
            parts = parts or tuple(self._joined(value))
        return [part for part in parts if not isinstance(part, Device) and not _is_empty(part)]

    def _joined(self, value: Tensor) -> Iterator[Tensor]:
        """Yield the tensors that one is joined from, or that it is, as it is handed on."""
        open_ = [value.node.find()]
        done: set[PlaceVar] = set()
        while open_ and len(done) < _STEPS:
            root = open_.pop()
            if root in done:
                continue
            done.add(root)
            first = self._born.get(root)
            if first is not None and first is not value and not self._is_made_of(first, value):
                yield first
            else:
                open_ += [source.find() for source in root.flows_from]

    def _is_made_of(self, made: Tensor, value: Tensor) -> bool:
        """Tell whether a tensor that shares a place with another one is computed from that."""
        open_: list[Value] = [made]
        done: set[Value] = set()
        while open_ and len(done) < _STEPS:
            at = open_.pop()
            if at is value:
                return True
            if at not in done and isinstance(at, Tensor) and at.node.find() is value.node.find():
                open_ += self._tracer.births.get(at, (None, ()))[1]
            done.add(at)
        return False

    @cached_property
    def _born(self) -> dict[PlaceVar, Tensor]:
        """The first tensor at each node that some expression made, or a loader gave in a batch."""
        found: dict[PlaceVar, Tensor] = {}
        for value, (spot, parts) in self._tracer.births.items():
            if isinstance(value, Tensor) and spot is not None and (parts or value.site):
                found.setdefault(value.node.find(), value)
        for site in self._tracer.sites:
            if isinstance(site, Drawn) and site.node is not None:
                found.setdefault(site.node.find(), Tensor(site.node, site=site))
        return found

    @cached_property
    def _left(self) -> set[PlaceVar]:
        """The places that modules were built at, and are not at any more."""
        built = (site for site in self._tracer.sites if isinstance(site, Built))
        return {site.node.find() for site in built if site.node is not None} - {*self._modules}

    @cached_property
    def _written(self) -> dict[PlaceVar, Place]:
        """Where the places that switches choose are by what these say now."""
        found: dict[PlaceVar, Place] = {}
        for device, taken in self._tracer.written.items():
            root = device.node.find()
            if isinstance(taken, Device):
                node = taken.node.find()
                found[root] = found.get(node) or self.solution.place(node)
            elif isinstance(taken, Const) and str(taken.value).startswith("cpu"):
                found[root] = Place.HOST
        return found

    @cached_property
    def _modules(self) -> dict[PlaceVar, Instance]:
        """The first module at each node."""
        found: dict[PlaceVar, Instance] = {}
        for value in self._tracer.births:
            if isinstance(value, Instance) and value.node is not None and not _is_empty(value):
                found.setdefault(value.node.find(), value)
        return found


def node_of(value: Value) -> PlaceVar | None:
    """Return the place of a value, None for one that has none."""
    if isinstance(value, Union):
        return node_of(value.options[0])
    return value.node if isinstance(value, (Tensor, Device, Instance)) else None


def _root(value: Value) -> PlaceVar | None:
    node = node_of(value)
    return node.find() if node is not None else None


def _is_empty(value: Value) -> bool:
    """Tell whether a value is a module without parameters and buffers: it is nowhere."""
    return isinstance(value, Instance) and value.family == "module" and not value.stateful


def _is_elsewhere(value: Tensor, parts: tuple[Value, ...]) -> bool:
    """Tell whether a tensor's place has nothing to do with those of the tensors it is made from.

    So it is where code that is not known says where it goes: `x.type(name)`, `x.to(some)`.
    """
    root = value.node.find()
    if value.site is not None or root.pin is not None:
        return False
    if root.flows_from or root.drawn_from or root.stored:
        return False
    return all(isinstance(part, Tensor) and part.node.find() is not root for part in parts)


def _is_moved_as_copy(value: Value) -> bool:
    """Tell whether a copy of a module was moved, and not the module itself."""
    if not isinstance(value, Instance) or is_moved(value):
        return False
    return any(map(is_moved, value.copies))


def is_moved(module: Instance) -> bool:
    """Tell whether a module, or one that it is a part of, was moved."""
    return any(whole.moves for whole in module.wholes())
