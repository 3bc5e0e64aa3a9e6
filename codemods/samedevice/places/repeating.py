"""A call that needs no evaluation: what one evaluation did is done again with other arguments.

What depends on the arguments is made again with the call's own, and so is what the function itself
makes: places and the relations between them, objects, what it writes, and what happens to values.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

from samedevice.places import moving
from samedevice.places.environment import Path
from samedevice.places.graph import PlaceVar
from samedevice.places.objects import Func, Instance, Method, Partial, Scope, Super, Union
from samedevice.places.sites import Site
from samedevice.places.summaries import Record, Template, told_by
from samedevice.places.symbols import FLAGS, LISTS, Given, Part, Whole, part
from samedevice.places.values import (
    DEEP,
    NUMBERS,
    Device,
    Dict,
    Entries,
    FunctionNode,
    Iter,
    Seq,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from samedevice.places.context import Passed
    from samedevice.places.interpret import Interpreter


def handed_on(record: Record, given: Given) -> Value:
    """Return what a function gives for other arguments, as far as it hands them on."""
    made = _Repetition({})
    for name, before in record.given.items():
        if name in given:
            made.pair(before, given[name])
    result: Value = made.value(record.result)
    return result


def repeat(template: Template, given: Given) -> Value:
    """Return what the function gives for the arguments of a call, and do what it does."""
    made = _Repetition({}, template)
    template.run.copies -= template.size
    made.bind(given)
    if template.run.copies > 0:
        made.relations()
    result: Value = made.value(template.result)
    made.write()
    if template.run.copies > 0 or not template.told:
        made.happen()
    template.told.add(template.run.unit)
    return result


class _Repetition:
    """What one call makes again of an evaluation."""

    def __init__(self, new: dict[PlaceVar, PlaceVar], template: Template | None = None) -> None:
        self._new = new  # roots in the evaluation, and the nodes that stand for them
        self._same: dict[int, Any] = {}  # by id: what stands for an object of the evaluation
        self._template = template

    def pair(self, before: Value, now: Value, depth: int = DEEP) -> None:
        """Pair the places of an argument with those of the one that takes its place."""
        if isinstance(before, (Tensor, Device, Instance)) and isinstance(
            now, (Tensor, Device, Instance)
        ):
            if before.node is not None and now.node is not None:
                if before.node.find() is not now.node.find():
                    self._new.setdefault(before.node.find(), now.node)
            if isinstance(before, Instance) and isinstance(now, Instance):
                self._same[id(before)] = now
        elif isinstance(before, (Seq, Dict)) and type(before) is type(now) and depth:
            assert isinstance(now, (Seq, Dict))
            self._same[id(before)] = now
            for one, other in zip(before.members(), now.members(), strict=False):
                self.pair(one, other, depth - 1)

    # -- the arguments --------------------------------------------------------------------------

    def bind(self, given: Given) -> None:
        """Find what the stand-ins stand for in this call."""
        template = self._template
        assert template is not None
        graph = template.run.graph
        actual: dict[int, Whole | None] = {-1: None}
        for n in template.needed:
            each = template.parts[n]
            found: Whole | None
            if each.above < 0:
                found = given.get(each.step[1])
            else:
                found = part(actual[each.above], each.step)
            actual[n] = found
            if found is None:
                continue
            if not isinstance(each.stand, (Tensor, Device)):
                self._same.setdefault(id(each.stand), found)
            place = getattr(found, "node", None)
            if each.node is None or not isinstance(place, PlaceVar):
                continue
            root = each.node.find()
            if not template.is_inside(root):
                graph.same(place, root)  # it is where something outside is
            elif root in self._new:
                graph.same(self._new[root], place)
            else:
                self._new[root] = place
            if template.is_inside(root):
                _demand(template.run, root, place, isinstance(each.stand, Device))
        copied = template.copied if template.run.copies > 0 else ()
        for root in (*copied, *template.free):
            if root not in self._new and root.find() is root:
                self._new[root] = self._twin(root)

    def _twin(self, root: PlaceVar) -> PlaceVar:
        assert self._template is not None
        made = self._template.run.graph.node()
        made.spots = list(root.spots)
        made.pin, made.pin_spot = root.pin, root.pin_spot
        made.name, made.cause, made.open = root.name, root.cause, root.open
        made.is_tensor, made.agrees, made.joins = root.is_tensor, root.agrees, root.joins
        made.host_required_at, made.read_there = root.host_required_at, root.read_there
        return made

    def _at(self, node: PlaceVar) -> PlaceVar:
        root = node.find()
        return self._new.get(root, root)

    # -- what is made again -----------------------------------------------------------------------

    def relations(self) -> None:
        """Relate the new nodes as the old ones are."""
        template = self._template
        assert template is not None
        graph = template.run.graph
        for name, source, target in template.edges:
            getattr(graph, name)(self._at(source), self._at(target))
        for meet in template.meets:
            relate = graph.index if meet.kind in ("index", "number") else graph.meet
            relate(
                self._at(meet.left), meet.left_spot, self._at(meet.right), meet.right_spot,
                meet.operation, meet.function, meet.kind,
            )  # fmt: skip

    def value(self, value: Any) -> Any:
        """Return a value of the evaluation as it is in this call."""
        known = self._same.get(id(value))
        if known is not None:
            return known
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, Device):
            return value.at(self._at(value.node)) if value.node.find() in self._new else value
        if isinstance(value, (Union, Partial, Method, Super, Func)):
            return self._reference(value)
        template = self._template
        if template is None or getattr(value, "born", -1) < template.marks.number:
            return value
        made = copy(value)
        self._same[id(value)] = made
        made.born = next(NUMBERS)
        match made:
            case Seq():
                made.items = None if value.items is None else [self.value(v) for v in value.items]
                made.element = self.value(value.element)
                if value.added:
                    made.added = tuple((self.value(v), spot) for v, spot in value.added)
            case Dict():
                made.items = self._entries(value.items)
                made.element, made.keys = self.value(value.element), self.value(value.keys)
            case Iter():
                made.element, made.source = self.value(value.element), self.value(value.source)
                made.result, made.received = self.value(value.result), self.value(value.received)
            case Scope():
                made.names = value.names.copy()
                for name, held in value.names.items():
                    made.names[name] = self.value(held)
                made.self_value = self.value(value.self_value)
                made.outer = self.value(value.outer)
            case Instance():
                self._object(value, made)
        return made

    def _tensor(self, value: Tensor) -> Tensor:
        owner = self.value(value.owner) if value.owner is not None else None
        if value.node.find() not in self._new and owner is value.owner:
            return value
        made = value.copy()
        made.names_device = value.names_device
        made.owner = owner
        if not value.lent:
            made.node = self._at(value.node)
        made.site = self._site(value.site) if value.site is not None else None
        return made

    def _reference(self, value: Any) -> Any:
        """Return what refers to other values, with those of this call."""
        if not self._new and not self._same:
            return value
        made = copy(value)
        match made:
            case Func():
                made.bound = self.value(value.bound) if value.bound is not None else None
                made.scope = self.value(value.scope)
                if made.bound is value.bound and made.scope is value.scope:
                    return value
            case Method():
                made.receiver = self.value(value.receiver)
            case Super():
                made.obj = self.value(value.obj)
            case Union():
                made.options = [self.value(option) for option in value.options]
            case Partial():
                made.callee = self.value(value.callee)
                made.args = [(self.value(v), spot) for v, spot in value.args]
                made.kwargs = {k: (self.value(v), spot) for k, (v, spot) in value.kwargs.items()}
        return made

    def _entries(self, items: dict[Any, Value]) -> Any:
        if getattr(items, "born", -1) < (self._template.marks.number if self._template else 0):
            return items
        made = type(items)() if isinstance(items, Entries) else Entries()
        for key, held in items.items():
            made[key] = self.value(held)
        return made

    def _object(self, value: Instance, made: Instance) -> None:
        assert self._template is not None
        if value.node is not None:
            made.node = self._at(value.node)
        made.attrs = type(value.attrs)()
        for attr, held in value.attrs.items():
            made.attrs[attr] = self.value(held)
        made.parent = self.value(value.parent)
        made.args = [self.value(v) for v in value.args]
        made.kwargs = {key: self.value(v) for key, v in value.kwargs.items()}
        made.moves, made.awaited = list(value.moves), [self._at(n) for n in value.awaited]
        for slot in ("borrows", "copies", "parts"):
            setattr(made, slot, [self.value(v) for v in getattr(value, slot)])
        made.copied_from = self.value(value.copied_from)
        if value.family == "module":
            self._template.run.modules.append(made)
        made.site = self._site(value.site) if value.site is not None else None

    # -- what it does -----------------------------------------------------------------------------

    def write(self) -> None:
        """Write what the evaluation wrote that lasts, and change what it changed."""
        template = self._template
        assert template is not None
        run = template.run
        for n in template.changed:
            each = template.parts[n]
            owner = self._same.get(id(each.stand))
            if isinstance(owner, Instance):
                self._change(each, owner)
        for target, key, before, now in template.written:
            store = self._store(target)
            if store is None:
                continue
            if isinstance(store, Seq):
                run.trail.note(store)
                self._extend(store, before, now)
            elif isinstance(store, Scope):
                run.trail.note(store, key)
                if now is not None:
                    store.names[key] = self.value(now)
            elif isinstance(store, Dict):
                run.trail.note(store)
                store.element = self.value(now)
            elif now is not None:
                run.trail.put(store, key, self.value(now))
            elif key in store:
                run.trail.note(store, key)
                del store[key]

    def _store(self, target: Any) -> Any:
        """Return what is written in this call."""
        template = self._template
        assert template is not None
        n = template.stands.get(id(target))
        if n is None:
            return target
        found = self._same.get(id(template.parts[n].stand))
        if isinstance(target, dict):
            return getattr(found, "attrs" if isinstance(found, Instance) else "items", None)
        return found if type(found) is type(target) else None

    def _extend(self, store: Seq, before: Any, now: Any) -> None:
        """Add to a list what was added to the one that stands for it."""
        was, items = before[0], now[0]
        if was is not None and items is not None and store.items is not None:
            if items[: len(was)] == was:
                store.items += [self.value(v) for v in items[len(was) :]]
                if now[2] and store.added is not None:
                    added = now[2][len(before[2] or ()) :]
                    store.added += tuple((self.value(v), spot) for v, spot in added)
                elif not now[2]:
                    store.added = now[2]
                return
        store.items = [self.value(v) for v in items] if items is not None else None
        store.element = self.value(now[1])
        store.added = None if now[2] is None else tuple((self.value(v), s) for v, s in now[2])

    def _change(self, each: Part, owner: Instance) -> None:
        """Change an object as the one that stands for it was changed."""
        stand = each.stand
        assert isinstance(stand, Instance) and self._template is not None
        node, parent, flags, *counts = each.before
        for flag, was in zip(FLAGS, flags, strict=True):
            if getattr(stand, flag) is not was:
                setattr(owner, flag, getattr(stand, flag))
        if owner.used and not flags[FLAGS.index("used")]:
            for whole in owner.wholes():
                whole.used = True
        for slot, count in zip(LISTS, counts, strict=True):
            getattr(owner, slot).extend(self._field(each) for each in getattr(stand, slot)[count:])
        if stand.parent is not parent:
            owner.parent = self.value(stand.parent)
        if stand.node is not node and stand.node is not None:
            owner.node = self._at(stand.node)
            moving.arrive(self._template.run, owner)

    def happen(self) -> None:
        """Repeat what happened to values of this call; what happened to others is told once."""
        template = self._template
        assert template is not None
        run = template.run
        for site in template.sites:
            ours = site.node is not None and site.node.find() in self._new
            if ours or not template.told or id(site) in self._same:
                made = self._site(site)
                made.order = len(run.sites)
                run.sites.append(made)
        for node in template.held:
            if not template.told or node.find() in self._new:
                run.held.append(self._at(node))
        asked = run.unit in template.told
        for node, spot, scope, _ in template.seeds:
            if not asked or node.find() in self._new:
                run.seeds.append((self._at(node), spot, scope, run.unit[0]))
        for function, passed in template.handed:
            if not asked:
                run.reached.setdefault(function, set()).add(run.unit)
            ours = passed is not None and passed[0].find() in self._new
            if not asked or ours or run.templating:
                self._hand(function, passed)

    def _hand(self, function: FunctionNode, passed: Passed | None) -> None:
        """Note what the evaluation passes to a function."""
        assert self._template is not None
        run = self._template.run
        here = (self._at(passed[0]), *passed[1:]) if passed is not None else None
        if run.templating:
            run.handed.append((function, here))
        elif here is not None:
            run.arguments.setdefault(function, []).append(here)

    def _path(self, path: Path | None) -> Path | None:
        """Return the part of the program that something belongs to, in this call."""
        assert self._template is not None
        if path is self._template.marks.path:
            return self._template.run.path
        if path is None:
            return None
        known: Path | None = self._same.get(id(path))
        if known is None:
            known = self._same[id(path)] = Path(self._path(path.outer))
        return known

    def _site(self, site: Any) -> Any:
        """Return an event of the evaluation as it is in this call."""
        template = self._template
        known = self._same.get(id(site))
        if known is not None or template is None or id(site) not in template.own_sites:
            return known or site
        made = self._same[id(site)] = copy(site)
        made.path = self._path(site.path)
        for name in told_by(site):
            setattr(made, name, self._field(getattr(site, name)))
        return made

    def _field(self, held: Any) -> Any:
        """Return what an event speaks of, in this call."""
        if isinstance(held, Value):
            return self.value(held)
        if isinstance(held, PlaceVar):
            return self._at(held)
        if isinstance(held, Site):
            return self._site(held)
        if type(held) in (list, tuple):
            return type(held)(self._field(each) for each in held)
        if type(held) is dict:
            return {key: self._field(each) for key, each in held.items()}
        return held


def _demand(run: Interpreter, root: PlaceVar, place: PlaceVar, is_device: bool) -> None:
    """Demand of an argument's place what the evaluation demands of the one that stands for it."""
    if root.pin is not None and not is_device and place.find().pin is None:
        run.graph.pin(place, root.pin, root.pin_spot, root.name, root.cause)
        place.find().open = root.open
    now = place.find()
    now.is_tensor = now.is_tensor or root.is_tensor
    now.agrees = now.agrees or root.agrees
    now.read_there = now.read_there or root.read_there
    now.host_required_at = now.host_required_at or root.host_required_at
