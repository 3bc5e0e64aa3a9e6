"""What stands for the arguments of any call: values of the same shape, which are nowhere yet.

A call passes trees: objects with attributes, containers with members, functions with what they
close over. Each part has a stand-in, and the way that leads to it: by that way the parts of
another call's arguments are found.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from samedevice.places.graph import Location, PlaceVar
from samedevice.places.objects import (
    Class,
    External,
    Func,
    Instance,
    Method,
    Partial,
    Scope,
    Union,
)
from samedevice.places.values import (
    DEVICE,
    NUMBERS,
    CliOption,
    Const,
    Device,
    DeviceTest,
    Dict,
    Iter,
    ProcessIndex,
    Scalar,
    Seq,
    Tensor,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from samedevice.places.interpret import Interpreter

#: The values of a call by position and name, and what the function is bound to ("self").
Given = dict[int | str, Value]
#: What has parts: a value, or the names that a function closes over.
Whole = Value | Scope
#: Parts that have stand-ins; those that are further away are taken to be the same in each call.
_PARTS = 400
#: What of an object is known of its own, beside its attributes.
FLAGS = ("stateful", "used", "absent", "spread", "shared", "plain")
LISTS = ("moves", "awaited", "borrows", "parts")


def shapes_of(run: Interpreter, given: Given, depth: int = 3) -> dict[int | str, object]:
    """Return the shapes of the values of a call: what of them decides which way it goes.

    Where a tensor is decides nothing, where a device is does.
    """
    shapes = _Shapes(run)
    return {name: shapes.of(value, depth) for name, value in given.items()}


class _Shapes:
    """The shapes of the values of one call: what was met before is named by when that was."""

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        self._met: dict[int, int] = {}

    def of(self, value: Value, depth: int) -> object:
        match value:
            case Tensor():
                known = value.node.find().is_tensor
                return "tensor", value.scalar, value.opaque, value.doubt, known
            case CliOption() | ProcessIndex():
                return "chosen", id(value)
            case Const(value=str(text), spot=Location(node=node)) if _names_device(text):
                return "device", text, id(node)  # what is wrong about it is said there
            case Const(value=held):
                return "constant", type(held), held if held.__hash__ is not None else None
            case Scalar() | Unknown():
                return "one of a kind", id(value)
            case DeviceTest():
                return "test", value.positive, value.asks, value.choice, value.of_value
            case Class(node=definition):
                return "class", id(definition)
            case External(name=name):
                return "name", name  # a type, say, or a function
            case Device():
                root = value.node.find()
                return "device", value.text, root.pin, root.name
        if depth and isinstance(value, (Seq, Dict, Instance, Func, Iter, Union, Partial, Method)):
            when = self._met.get(id(value))
            if when is not None:
                return "met", when
            self._met[id(value)] = len(self._met)
            return self._of_whole(value, depth)
        return type(value)

    def _of_whole(self, value: Value, depth: int) -> object:
        inner = depth - 1
        match value:
            case Seq(items=items):
                parts = tuple(self.of(item, inner) for item in items) if items is not None else None
                return value.kind, value.perhaps, parts, self.maybe(value.element, inner)
            case Dict():
                members = tuple((key, self.of(v, inner)) for key, v in value.items.items())
                return "dict", value.perhaps, members, self.maybe(value.element, inner)
            case Instance():
                return self._of_object(value, depth)
            case Func(node=node):
                names = closed_over(self._run, value).items()
                closed = tuple((name, self.of(held, inner)) for name, held in names)
                return "function", id(node), self.maybe(value.bound, inner), closed
            case Iter():
                return "iterator", self.of(value.element, inner)
            case Union(options=options):
                return "union", tuple(self.of(option, inner) for option in options)
            case Partial():
                given = [each for each, _ in (*value.args, *value.kwargs.values())]
                return "partial", self.of(value.callee, inner), *(self.of(v, inner) for v in given)
            case Method():
                return "method", value.name, self.of(value.receiver, inner)
        return type(value)

    def _of_object(self, value: Instance, depth: int) -> object:
        own: tuple[object, ...] = value.family, value.name, id(value.cls)
        if value.family == "module":
            own += tuple(getattr(value, flag) for flag in FLAGS)
            own += (
                len(value.moves),
                value.is_whole(),
                value.copied_from is None,
                self._origin(value),
            )
        if depth < 2:
            return own
        layers = value.cls is None and value.family == "module"  # a container: as good as a list
        inner = depth - 1 if layers else depth - 2
        return own, tuple((attr, self.of(held, inner)) for attr, held in value.attrs.items())

    def _origin(self, value: Instance) -> object:
        """Return what counts of where a module was built: by which caller, on which path."""
        site, run = value.site, self._run
        if site is None:
            return None
        func = site.scope.func
        caller = func.node if func is not None else None
        depth = run.stack[::-1].index(caller) if caller in run.stack else -1
        where = self._met.setdefault(id(site.scope), len(self._met))
        surely = run.path is None or run.path.holds(site.path)
        return site.in_constructor, caller is None, depth, where, surely

    def maybe(self, value: Value | None, depth: int) -> object:
        return self.of(value, depth) if value is not None else None


def closed_over(run: Interpreter, func: Func) -> dict[str, Value]:
    """Return what a function closes over, by name: what functions around it have bound."""
    if func.scope.func is None:
        return {}
    names = run.names_in.get(func.node)
    if names is None:
        used = (each.id for each in ast.walk(func.node) if isinstance(each, ast.Name))
        names = run.names_in[func.node] = tuple(dict.fromkeys(used))
    found: dict[str, Value] = {}
    for name in names:
        level: Scope | None = func.scope
        while level is not None and level.func is not None:
            if name in level.names:
                found[name] = level.names[name]
                break
            level = level.outer
    return found


@dataclass(slots=True)
class Part:
    """A stand-in, and where it is: a step from another one, or an argument (`above` is -1)."""

    stand: Whole
    above: int
    step: tuple[str, Any]
    node: PlaceVar | None = None  # its place
    before: tuple[Any, ...] = ()  # of an object: what it was
    is_tensor: bool = True  # whether its place was known to be one of a tensor


@dataclass
class Symbols:
    """The stand-ins for the values of a call."""

    run: Interpreter
    spot: Location
    parts: list[Part] = field(default_factory=list)
    _made: dict[int, int] = field(default_factory=dict)
    _held: list[object] = field(default_factory=list)  # so that no other object gets their ids

    def argument(self, name: int | str, value: Value) -> Value:
        """Return what stands for an argument, or for what a function is bound to."""
        found = self._of(value, -1, ("", name), None)
        assert isinstance(found, Value)
        return found

    def scope(self, func: Func) -> Scope:
        """Return the names that stand for what a function closes over."""
        return self._scope(func.scope, -1, ("", "closure"))

    def _add(self, origin: object, stand: Whole, above: int, step: tuple[str, Any]) -> int:
        self._made[id(origin)] = len(self.parts)
        self._held.append(origin)
        self.parts.append(Part(stand, above, step))
        return len(self.parts) - 1

    def _of(self, value: Value, above: int, step: tuple[str, Any], owner: Instance | None) -> Value:
        if isinstance(value, Tensor):
            return self._tensor(value, above, step)
        if isinstance(value, Device):
            return self._device(value, above, step)
        if not isinstance(value, (Seq, Dict, Instance, Func, Iter, Union, Partial, Method)):
            return value
        known = self._made.get(id(value))
        if known is not None:
            found = self.parts[known].stand
            assert isinstance(found, Value)
            return found
        if len(self.parts) >= _PARTS or isinstance(value, Func) and not _is_bound(value):
            return value
        stand = copy(value)
        if hasattr(stand, "born"):
            stand.born = next(NUMBERS)
        here = self._add(value, stand, above, step)
        _FILL[type(value)](self, value, stand, here)
        if isinstance(stand, Instance):
            self.parts[here].node = stand.node
            self.parts[here].before = state(stand)
            self.parts[here].is_tensor = stand.node is None or stand.node.is_tensor
        return stand

    def _place(self, node: PlaceVar) -> PlaceVar:
        made = self.run.graph.node(self.spot)
        made.is_tensor = node.find().is_tensor
        return made

    def _tensor(self, value: Tensor, above: int, step: tuple[str, Any]) -> Tensor:
        made = value.copy()
        made.names_device = value.names_device
        owner = self._made.get(id(value.owner)) if value.owner is not None else None
        above_it = self.parts[owner].stand if owner is not None else None
        if isinstance(above_it, Instance) and above_it.node is not None:
            made.owner = above_it
            if value.lent:
                made.lent, made.site = True, None
                return made
            assert value.owner is not None
            if value.owner.holds(value):
                made.node = above_it.node
                made.site = None
                return made
        made.node, made.site = self._place(value.node), None
        self.parts.append(Part(made, above, step, made.node, (), made.node.is_tensor))
        return made

    def _device(self, value: Device, above: int, step: tuple[str, Any]) -> Device:
        root, free = value.node.find(), self.run.graph.node(self.spot)
        free.pin, free.pin_spot = root.pin, root.pin_spot
        free.name, free.cause = root.name, root.cause
        made = value.at(free)
        self.parts.append(Part(made, above, step, free))
        return made

    def _scope(self, scope: Scope, above: int, step: tuple[str, Any]) -> Scope:
        known = self._made.get(id(scope))
        if known is not None:
            found = self.parts[known].stand
            assert isinstance(found, Scope)
            return found
        made = copy(scope)
        made.born = next(NUMBERS)
        here = self._add(scope, made, above, step)
        made.names = scope.names.copy()
        for name, value in scope.names.items():
            made.names[name] = self._of(value, here, ("names", name), None)
        if isinstance(scope.self_value, Value):
            made.self_value = self._of(scope.self_value, here, ("self_value", None), None)
        if scope.outer is not None and scope.outer.func is not None:
            made.outer = self._scope(scope.outer, here, ("outer", None))
        return made

    # -- what each kind of whole is made of -----------------------------------------------------

    def _object(self, value: Instance, stand: Instance, here: int) -> None:
        stand.node = self._place(value.node) if value.node is not None else None
        stand.attrs = type(value.attrs)()
        stand.moves, stand.awaited = list(value.moves), list(value.awaited)
        stand.borrows, stand.copies = list(value.borrows), list(value.copies)
        for attr, held in value.attrs.items():
            if (
                isinstance(held, Tensor)
                and not held.lent
                and value.node is not None
                and held.node.find() is value.node.find()
            ):
                buffer = held.copy()
                assert stand.node is not None
                buffer.node = stand.node
                buffer.owner = stand if held.owner is value else held.owner
                stand.attrs[attr] = buffer
                continue
            stand.attrs[attr] = self._of(held, here, ("attrs", attr), value)
        stand.args = [self._of(v, here, ("args", n), value) for n, v in enumerate(value.args)]
        stand.kwargs = {k: self._of(v, here, ("kwargs", k), value) for k, v in value.kwargs.items()}
        stand.parent = self._known(value.parent)
        stand.parts = [self._known(part) or part for part in value.parts]

    def _known(self, value: Instance | None) -> Instance | None:
        """Return what stands for an object that was met already, or the object."""
        known = self._made.get(id(value)) if value is not None else None
        found = self.parts[known].stand if known is not None else value
        assert found is None or isinstance(found, Instance)
        return found

    def _sequence(self, value: Seq, stand: Seq, here: int) -> None:
        if value.items is not None:
            stand.items = [self._of(v, here, ("items", n), None) for n, v in enumerate(value.items)]
        if value.element is not None:
            stand.element = self._of(value.element, here, ("element", None), None)

    def _mapping(self, value: Dict, stand: Dict, here: int) -> None:
        stand.items = type(value.items)()
        for key, member in value.items.items():
            stand.items[key] = self._of(member, here, ("items", key), None)
        if value.element is not None:
            stand.element = self._of(value.element, here, ("element", None), None)

    def _iterator(self, value: Iter, stand: Iter, here: int) -> None:
        stand.element = self._of(value.element, here, ("element", None), None)

    def _function(self, value: Func, stand: Func, here: int) -> None:
        if value.bound is not None:
            stand.bound = self._of(value.bound, here, ("bound", None), None)
        if value.scope.func is not None:
            stand.scope = self._scope(value.scope, here, ("scope", None))

    def _union(self, value: Union, stand: Union, here: int) -> None:
        options = enumerate(value.options)
        stand.options = [self._of(v, here, ("options", n), None) for n, v in options]

    def _partial(self, value: Partial, stand: Partial, here: int) -> None:
        stand.callee = self._of(value.callee, here, ("callee", None), None)
        stand.args = [
            (self._of(v, here, ("args", n), None), spot) for n, (v, spot) in enumerate(value.args)
        ]
        stand.kwargs = {
            k: (self._of(v, here, ("kwargs", k), None), spot)
            for k, (v, spot) in value.kwargs.items()
        }

    def _method(self, value: Method, stand: Method, here: int) -> None:
        stand.receiver = self._of(value.receiver, here, ("receiver", None), None)


_FILL: dict[type[Value], Callable[[Symbols, Any, Any, int], None]] = {
    Instance: Symbols._object,
    Seq: Symbols._sequence,
    Dict: Symbols._mapping,
    Iter: Symbols._iterator,
    Func: Symbols._function,
    Union: Symbols._union,
    Partial: Symbols._partial,
    Method: Symbols._method,
}


def part(whole: Whole | None, step: tuple[str, Any]) -> Whole | None:
    """Return a part of a value, by the step that leads to it, or None."""
    slot, key = step
    held = getattr(whole, slot, None)
    if key is None:
        return held
    if isinstance(held, dict):
        held = held.get(key)
    elif isinstance(held, list):
        held = held[key] if key < len(held) else None
    if isinstance(held, tuple):  # an argument, with where it is written
        held = held[0]
    return held


def _names_device(text: str) -> bool:
    return text == "cpu" or DEVICE.fullmatch(text) is not None


def state(value: Instance) -> tuple[Any, ...]:
    """Return what may change of an object, beside its attributes."""
    flags = tuple(getattr(value, flag) for flag in FLAGS)
    return value.node, value.parent, flags, *(len(getattr(value, slot)) for slot in LISTS)


def _is_bound(func: Func) -> bool:
    """Tell whether a function has more than code: what it is bound to, or closes over."""
    return func.bound is not None or func.scope.func is not None
