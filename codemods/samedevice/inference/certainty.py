"""What arrives at an expression over all of its evaluations: always a tensor, or something else."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable

from samedevice import torchfacts
from samedevice.inference import witness
from samedevice.inference.dispatch import EVALUATORS
from samedevice.inference.events import Loaded
from samedevice.inference.focus import PartialAnalysis
from samedevice.inference.interpret import Interpreter
from samedevice.inference.nodes import Place
from samedevice.inference.objects import Class, Func, Instance, Method, Scope, Union
from samedevice.inference.values import (
    NONE,
    NOTHING,
    UNKNOWN,
    Array,
    Const,
    Device,
    Dict,
    Doubt,
    Scalar,
    Seq,
    Shown,
    Tensor,
    Unknown,
    Value,
)
from samedevice.reading.project import Project

#: What is said of an expression of which nothing is known.
UNSEEN = "something unknown"
#: What an object is that has no `.to`; a device it may have, perhaps by the same fix.
PLAIN = "an object that is no module"
#: What is asked for something that no tensor has; it may well have a `.to`.
OBJECT = "an object that is no tensor"
#: What is absent on some path: an expression that only a tensor can be in has none there.
ABSENT = "None"
#: What only the name of its use suggests: nothing that was done with it is done with tensors alone.
UNSHOWN = "no tensor: nothing here shows that it is one"
#: What is a tensor on one path, as far as is known, and may be a number or an array on another.
ELSEWHERE = "no tensor on another path"

#: What a device is where another one is meant.
THE_CPU, PERHAPS_THE_CPU = "is the CPU", "may be the CPU"

#: It takes a look at the value itself.
_LOOK = 0
#: A tensor, a module, or an object that may have what they have: nothing that cannot be moved.
_FINE = 1
_ELSEWHERE, _CONSTANT, _DEVICE, _UNKNOWN, _FOREIGN, _PLAIN, _ABSENT = (
    2,
    16,
    32,
    512,
    1024,
    2048,
    4096,
)
#: A device that the code could define, and does not.
_PLANNED = 8192
#: The number of a GPU: a device for most of what takes one.
_NUMBER = 16384
#: A tensor that is None on another path.
_PERHAPS_ABSENT = 32768
#: An attribute that its object does not have, or not yet.
_UNSET = 65536
_TEXTS = {
    _ELSEWHERE: ELSEWHERE,
    4: "an array",
    8: "a number or a string",
    _CONSTANT: "a constant",
    _DEVICE: "a device",
    64: "a sequence",
    128: "a mapping",
    256: "a function",
    _UNKNOWN: UNSEEN,
    _FOREIGN: "data of another library",
    _PLAIN: PLAIN,
    _ABSENT: ABSENT,
    _PLANNED: "a device",
    _NUMBER: "a constant",
    _PERHAPS_ABSENT: ABSENT,
}
#: What has no device for certain, if that arrives.
_NO_TENSORS_AT_ALL = (4, 8, _CONSTANT, 64, 128, 256, _ABSENT, _NUMBER)
#: What says no device, where one is meant.
_NAMELESS = {
    _ABSENT: "may be None", _PLANNED: "may not be set yet", _UNSET: "may not be set yet",
    _UNKNOWN: f"may be {UNSEEN}",
}  # fmt: skip
_SHOWN = {Shown.OBJECT: OBJECT, Shown.MAPPING: "a mapping", Shown.LIST: "a list"}
#: What counts only where an expression is nothing else.
_LAST = (ABSENT, OBJECT)
_LOADED = "an entry of a loaded file"

#: What has no methods of a tensor, by its place in a number of kinds.
_KINDS: dict[type[Value], int] = {
    Unknown: _UNKNOWN,
    Tensor: _LOOK,
    Union: _LOOK,
    Instance: _LOOK,
    Const: _LOOK,
    Array: 4,
    Scalar: 8,
    Device: _DEVICE,
    Seq: 64,
    Dict: 128,
    Func: 256,
    Method: _LOOK,
}


#: Families of objects of libraries that are no tensors and no modules.
_NO_TENSORS = frozenset(("hostobject", "loader", "optimizer", "parser", "plot"))
#: What an object defines that can be moved, or may answer for what it does not define.
_MOVABLE = ("to", "device", "__getattr__", "__getattribute__")
#: Bases that are no class of the project, and have none of that.
_NO_BASES = frozenset(("object", "ABC", "abc.ABC"))
#: Bases that have no attribute but torch's own.
_MODULES = frozenset(("Module", "nn.Module", "torch.nn.Module"))


class Watcher(Interpreter):
    """An evaluation that notes what kinds of values arrive at each expression.

    There are millions of them: a number is kept for each expression, and a value only where its
    kind may become known later.
    """

    def __init__(
        self,
        project: Project,
        program: frozenset[str] | None = None,
        focus: PartialAnalysis | None = None,
    ) -> None:
        super().__init__(project, program, focus)
        self._in_calls: defaultdict[ast.AST, int] = defaultdict(int)
        self._alone: defaultdict[ast.AST, int] = defaultdict(int)
        self._held_back: dict[ast.AST, dict[int, Value]] = {}
        self._devices: defaultdict[ast.AST, dict[int, Device]] = defaultdict(dict)

    def eval(self, node: ast.expr, scope: Scope) -> Value:
        evaluate = EVALUATORS.get(node.__class__)  # what `Interpreter.eval` does, a frame less
        value = evaluate(self, node, scope) if evaluate is not None else UNKNOWN
        if value is UNKNOWN and self.project.seen is not None:
            value = witness.value(self, node, scope)
        kind = _KINDS.get(value.__class__, _FINE)
        if value is NOTHING:
            kind = _FINE  # no code ever meets it
        elif kind == _DEVICE:
            kind = _device_kind(value)  # type: ignore[arg-type]
            if not self.symbolic or node not in self._in_calls:
                self._devices[node][id(value)] = value  # type: ignore[assignment]
        elif kind == _LOOK:
            kind = _FINE
            if value.__class__ is Const:
                kind = _constant_kind(value)
            elif value.__class__ is Method:
                kind = _UNSET if not self.symbolic and _is_unset(value) else _FINE
            elif value.__class__ is Instance:
                kind = _kind_of(value)
            elif (
                self.symbolic or value.__class__ is Union or value.opaque  # type: ignore[attr-defined]
                or not value.node.is_tensor  # type: ignore[attr-defined]
            ):  # fmt: skip
                self._hold(node, value)  # what nobody calls may call it further on
            elif value.doubt is Doubt.OTHER:  # type: ignore[attr-defined]
                kind = _ELSEWHERE
            elif value.doubt is Doubt.ABSENT:  # type: ignore[attr-defined]
                kind = _PERHAPS_ABSENT
        if self.symbolic:
            self._alone[node] |= kind
        else:
            self._in_calls[node] |= kind
        return value

    def nameless(
        self, expressions: Collection[ast.AST], numberless: Collection[ast.AST] = ()
    ) -> dict[ast.AST, str]:
        """Return which of some expressions that are to name a device may not, and what they do.

        An expression may if it does for one caller, on one path. Of one that is never evaluated
        nothing is said. To the `numberless` among them a number is no device. `PERHAPS_THE_CPU`
        is one that names the CPU for some callers only: it may well follow what they hand in.
        """
        found = {}
        for node in expressions:
            kinds = self._kinds(node)
            for value in self._held_back.get(node, {}).values():
                kinds |= _ABSENT if isinstance(value, Union) and NONE in value.options else 0
            what = next((text for kind, text in _NAMELESS.items() if kinds & kind), None)
            if what is None and kinds & _NUMBER and node in numberless:
                what = "may be a number"
            if what is None:
                what = self._on_host(node)
            if what is not None:
                found[node] = what
        return found

    def is_uncalled(self, node: ast.AST) -> bool:
        """Tell whether an expression is evaluated for callers alone of which nothing is known."""
        return node in self._alone and node not in self._in_calls

    def without_device(self, expressions: Iterable[ast.AST]) -> dict[ast.AST, str]:
        """Return which of some expressions have no device for one caller, and what they are."""
        found = {}
        for node in expressions:
            kinds = self._kinds(node)
            what = next((_TEXTS[kind] for kind in _NO_TENSORS_AT_ALL if kinds & kind), None)
            if what is not None:
                found[node] = what
        return found

    def _on_host(self, node: ast.AST) -> str | None:
        """Return that an expression names the CPU: for whoever calls, or for some who do."""
        places = [each.node.find().place for each in self._devices.get(node, {}).values()]
        if Place.HOST not in places:
            return None
        return THE_CPU if set(places) == {Place.HOST} else PERHAPS_THE_CPU

    def _kinds(self, node: ast.AST) -> int:
        """Return what arrives at an expression; what nothing calls is judged by its own code."""
        return self._in_calls.get(node) or self._alone.get(node, _FINE)

    def _hold(self, node: ast.expr, value: Value) -> None:
        if not self.symbolic or node not in self._in_calls:
            self._held_back.setdefault(node, {})[id(value)] = value

    def doubts(
        self, expressions: Collection[ast.AST], resembling: Collection[ast.AST] = ()
    ) -> dict[ast.AST, str]:
        """Return which of some expressions may be no tensor or module, and what else.

        One that is known to be something else, or of which nothing is known, and so is an entry of
        a loaded file until the code uses it as only a tensor can be used. A function that nothing
        calls is judged by its own code. Of those `resembling` something else, one whose kind only
        its use suggests may be that.
        """
        found = {}
        for node in expressions:
            kinds = self._kinds(node)
            if node in resembling:
                held = self._held_back.get(node, {}).values()
                kinds |= _UNKNOWN if any(isinstance(value, Tensor) for value in held) else 0
            others = {text for kind, text in _TEXTS.items() if kinds & kind}
            others |= {_other(value) for value in self._held_back.get(node, {}).values()} - {""}
            if others:
                found[node] = min(others, key=lambda what: (what in _LAST, what))
        return found


def _device_kind(value: Device) -> int:
    """Return what a device is: one that may be written, a number, or one that there is."""
    if value.planned is not None:
        return _PLANNED
    return _NUMBER if value.is_number() else _DEVICE


def _constant_kind(value: Const) -> int:
    """Return what a constant is; those that are true or false are no numbers of a GPU."""
    if value.value is None:
        return _ABSENT
    return _NUMBER if type(value.value) is int else _CONSTANT


def _kind_of(value: Instance) -> int:
    """Return what an object is: one of a project's class has what its classes define."""
    if value.family in _NO_TENSORS:
        return _FOREIGN
    return _PLAIN if value.cls is not None and not value.family and _is_plain(value) else _FINE


def _is_plain(value: Instance) -> bool:
    """Tell whether an object has nothing that a tensor or a module has: all of its classes are
    known, and none defines it."""
    return _lacks(value, _MOVABLE)


def _is_unset(value: Method) -> bool:
    """Tell whether what is asked of an object is none of its methods, nor one of an attribute."""
    owner = value.receiver
    if not isinstance(owner, Instance) or owner.cls is None or owner.family not in ("", "module"):
        return False
    if owner.family and torchfacts.module_method(value.name) is not None:
        return False
    return _lacks(owner, (value.name, "__getattr__", "__getattribute__"), _NO_BASES | _MODULES)


def _lacks(value: Instance, names: Iterable[str], bases: Collection[str] = _NO_BASES) -> bool:
    """Tell whether an object has nothing under some names, as all of its classes are known, or are
    some `bases` of libraries."""
    assert value.cls is not None
    classes = value.cls.mro()
    return not any(
        name in value.attrs or any(name in klass.names for klass in classes) for name in names
    ) and all(
        isinstance(base, Class) or ast.unparse(written) in bases
        for klass in classes
        for base, written in zip(klass.bases, klass.node.bases, strict=False)
    )


def _other(value: Value) -> str:
    """Return what a value is if that is no tensor and no module, else ""."""
    if isinstance(value, Union):
        return next(filter(None, map(_other, value.options)), "")
    if isinstance(value, Tensor):
        if value.doubt is Doubt.OTHER:
            return ELSEWHERE
        if value.doubt is Doubt.ABSENT:
            return ABSENT
        if value.shown is not Shown.NOTHING and (value.opaque or value.site is None):
            return _SHOWN[value.shown]
        if value.node.find().is_tensor:
            return ""
        return _LOADED if value.opaque and isinstance(value.site, Loaded) else UNSHOWN
    if value is NONE or value is NOTHING:
        return ""  # None has no device that could be asked for, and nobody meets a member of []
    if isinstance(value, Instance):
        return _TEXTS.get(_kind_of(value), "")
    return _TEXTS.get(
        _CONSTANT if value.__class__ is Const else _KINDS.get(value.__class__, _FINE), ""
    )
