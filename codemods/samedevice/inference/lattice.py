"""The lattice of abstract values: what a name holds where two paths meet.

`join` is commutative, associative and idempotent as far as a value's shape goes; where two tensors
meet, the result has a place of its own that both flow into. Values of different kinds join to the
one that says more (`_RANK`), and a tensor keeps that it may be something else (`Doubt`): what is
edited has to be a tensor on every path.
"""

from __future__ import annotations

from samedevice.inference.events import Loaded
from samedevice.inference.graph import Graph
from samedevice.inference.nodes import Place
from samedevice.inference.objects import Class, Func, Instance, Union
from samedevice.inference.values import (
    ARRAY,
    DEEP,
    DEVICE,
    NOTHING,
    SCALAR,
    STARTED,
    UNKNOWN,
    Array,
    CliOption,
    Const,
    Device,
    DeviceTest,
    Dict,
    Doubt,
    Iter,
    ProcessIndex,
    Scalar,
    Seq,
    Tensor,
    Texts,
    Unknown,
    Value,
)

#: Alternatives that one name may stand for; beyond, the first ones stand for all.
_OPTIONS = 8
_CALLABLE = (Instance, Union, Func, Class)
#: How much kinds of values say about places; those that are not here say most.
_RANK: dict[type[Value], int] = {
    Unknown: 0,
    Const: 1,
    CliOption: 1,
    Scalar: 2,
    Texts: 1,
    DeviceTest: 3,
    Array: 4,
    ProcessIndex: 5,
    Device: 6,
    Iter: 7,
    Seq: 8,
    Dict: 9,
}


class Lattice:
    """Joins of values; new places are nodes of `graph`."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._depth = 0
        # What two containers join to, while a join goes on: one may hold itself, or others often.
        self._joined: dict[tuple[int, int], Value] = {}

    def join(self, left: Value | None, right: Value) -> Value:
        """Return a value that may be either; None is a path on which there is no value."""
        if left is None or left is right or left is NOTHING:
            return right
        if right is NOTHING:
            return left
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            return self._with_tensor(left, right)
        if isinstance(left, _CALLABLE) and isinstance(right, _CALLABLE):
            return self._callables(left, right)
        if isinstance(left, (Const, Texts)) and isinstance(right, (Const, Texts)):
            return _constants(left, right)
        if isinstance(left, Device) and isinstance(right, Device):
            return left if _said(left) >= _said(right) else right
        if type(left) is type(right) and isinstance(left, (Seq, Dict, Iter)):
            return self._containers(left, right)
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Const) and isinstance(other, Device):
                return _device_or_text(other, one)
            if isinstance(one, Const) and one.value is None and isinstance(other, Instance):
                other.absent = True
            if isinstance(one, (Seq, Dict)) and _rank(other) >= 0:
                one.perhaps = True
                if isinstance(other, Instance) and other.family == "hostobject":
                    return one  # of these two, it is what is taken apart
        return left if _rank(left) >= _rank(right) else right

    def _with_tensor(self, left: Value, right: Value) -> Value:
        if isinstance(left, Tensor) and isinstance(right, Tensor):
            return self._tensors(left, right)
        tensor, other = (left, right) if isinstance(left, Tensor) else (right, left)
        assert isinstance(tensor, Tensor)
        if tensor.opaque and isinstance(other, Instance):
            if isinstance(tensor.site, Loaded):
                # A file keeps what is made otherwise.
                if other.family == "module":
                    tensor.site.into_module = True
                else:
                    tensor.site.made = other
                return other
        if counted(other, tensor):
            return SCALAR
        if other is ARRAY:
            node = self._graph.node()
            node.is_tensor = False  # it may be no tensor
            self._graph.flow(tensor.node, node)
            made = Tensor(node, scalar=tensor.scalar)
            made.doubt = Doubt.OTHER
            return made
        absent = other is STARTED or isinstance(other, Const) and other.value is None
        doubt = Doubt.ABSENT if absent else Doubt.OTHER
        return tensor.doubted(doubt)

    def _tensors(self, left: Tensor, right: Tensor) -> Tensor:
        doubt = max(left.doubt, right.doubt)
        if left.node.find() is right.node.find():
            same = left if left.doubt is doubt else right
            if left.row is not right.row:
                same = same.copy()
                same.row = False
            return same
        # What has no dimensions may stay where it is: only the other one has to be somewhere.
        alike = left.scalar is right.scalar
        sources = [each.node for each in (left, right) if alike or not each.scalar]
        node = self._graph.joined(*sources)
        node.is_tensor = left.node.find().is_tensor and right.node.find().is_tensor
        joined = Tensor(node, scalar=left.scalar and right.scalar)
        joined.leaf = left.leaf or right.leaf
        joined.doubt = doubt
        return joined

    def _callables(self, left: Value, right: Value) -> Value:
        options: list[Value] = [*left.options] if isinstance(left, Union) else [left]
        for option in right.options if isinstance(right, Union) else [right]:
            if all(option is not known for known in options):
                options.append(option)
        families = [o.family if isinstance(o, Instance) else "module" for o in options]
        called = all(
            family in ("module", "dataset")
            or family == "hostobject"  # an estimator: it is not called, a module beside it is
            and "module" in families
            or not family
            and isinstance(o, Instance)
            and o.cls is not None
            for o, family in zip(options, families, strict=True)
        )
        if called and 1 < len(options) <= _OPTIONS:
            return Union(options)
        return left

    def _containers(self, left: Value, right: Value) -> Value:
        """Join member by member; containers deeper in each other than `DEEP` stay as they are."""
        known = self._joined.get((id(left), id(right)))
        if known is not None or self._depth >= DEEP:
            return known if known is not None else left
        self._depth += 1
        try:
            if isinstance(left, Seq) and isinstance(right, Seq):
                return self._sequences(left, right)
            if isinstance(left, Dict) and isinstance(right, Dict):
                return self._mappings(left, right)
            assert isinstance(left, Iter) and isinstance(right, Iter)
            made = Iter(UNKNOWN)
            self._joined[id(left), id(right)] = made
            made.element = self.join(left.element, right.element)
            made.inside = left.inside if left.inside == right.inside else ()
            return made
        finally:
            self._depth -= 1
            if not self._depth:
                self._joined.clear()

    def _sequences(self, left: Seq, right: Seq) -> Seq:
        """Join member by member where both have as many, else all members into one."""
        made = Seq(left.kind, spot=left.spot or right.spot)
        made.perhaps = left.perhaps or right.perhaps
        self._joined[id(left), id(right)] = made
        if left.items is not None and right.items is not None:
            if len(left.items) == len(right.items):
                pairs = list(zip(left.items, right.items, strict=True))
                made.items = [self.join(a, b) for a, b in pairs]
                made.element = self._either(left.element, right.element)
                return made
        for member in (*left.members(), *right.members()):
            made.element = self.join(made.element, member)
        made.added = None
        if left.added is not None and right.added is not None:
            made.added = tuple(dict.fromkeys((*left.added, *right.added)))
        return made

    def _mappings(self, left: Dict, right: Dict) -> Dict:
        """Join key by key; a key that one of them lacks is what it is in the other."""
        made = Dict(spot=left.spot or right.spot)
        made.perhaps = left.perhaps or right.perhaps
        self._joined[id(left), id(right)] = made
        made.items.update(left.items)
        for key, value in list(right.items.items()):
            made.items[key] = self.join(left.items.get(key), value)
        made.element = self._either(left.element, right.element)
        made.keys = self.join(left.keys, right.keys)
        return made

    def _either(self, left: Value | None, right: Value | None) -> Value | None:
        return left if right is None else self.join(left, right)


def _rank(value: Value) -> int:
    if isinstance(value, Const) and value.value is None:
        return -1  # it has no place, whatever the other one is
    return _RANK.get(type(value), len(_RANK))


def _said(device: Device) -> tuple[bool, bool, str, int, int]:
    """Return how much a device says: one that is chosen at run time stands for others, and one
    that may be a GPU for the CPU, in whatever order they are written."""
    node = device.spot.node if device.spot is not None else None
    path = device.spot.path if device.spot is not None else ""
    elsewhere = device.node.find().pin not in (Place.HOST, None)  # None: a name of the CPU's
    first = -getattr(node, "lineno", 0), -getattr(node, "col_offset", 0)
    return device.resolved, elsewhere, path, *first


def _device_or_text(device: Device, text: Const) -> Device:
    """Return a device that is named by a text where a branch was not taken."""
    if not DEVICE.fullmatch(str(text.value)):
        return device
    made = device.at(device.node)
    made.otherwise = text
    return made


def _constants(left: Const | Texts, right: Const | Texts) -> Value:
    """Two different constants are some scalar; what may be None is what it is otherwise.

    Of texts of which one names a device all are kept.
    """
    if isinstance(left, Texts) or isinstance(right, Texts):
        return _texts(left, right)
    if (
        left.value is right.value
        or type(left.value) is type(right.value)
        and (left.value == right.value)
    ):
        return left
    if left.value is None:
        return right
    if right.value is None:
        return left
    return _texts(left, right)


def _texts(left: Const | Texts, right: Const | Texts) -> Value:
    found: dict[str, Const] = {}
    for each in (left, right):
        for option in each.options if isinstance(each, Texts) else (each,):
            if option.value is None:
                continue
            if type(option) is not Const or not isinstance(option.value, str):
                return SCALAR
            found.setdefault(option.value, option)
    if len(found) > _OPTIONS or not any(map(DEVICE.fullmatch, found)):
        return SCALAR
    return Texts(tuple(found[text] for text in sorted(found)))


def counted(number: Value, loaded: Value) -> bool:
    """Tell whether a member of a file is what a name has a number for otherwise."""
    return (
        isinstance(loaded, Tensor)
        and (
            isinstance(number, Scalar)
            or isinstance(number, Const)
            and type(number.value) in (int, float)
        )
        and isinstance(loaded.site, Loaded)
        and loaded.site.whole is not None
    )
