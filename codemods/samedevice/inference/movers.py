"""Functions that move a batch: what they are given, rebuilt of what they give for each member.

`move_to(batch, device)` calls itself for the members of lists and mappings, moves what is a tensor
and leaves the rest. Joined like other results, all members of a batch would be one value: a tensor
or a text. Here a batch keeps its structure, however deep.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from samedevice.inference import calls, classes, functions
from samedevice.inference.models import tensor_methods
from samedevice.inference.nodes import Location
from samedevice.inference.objects import Attributes, Func, Instance
from samedevice.inference.values import (
    DEEP,
    UNKNOWN,
    Arg,
    Array,
    Const,
    Dict,
    FunctionNode,
    Scalar,
    Seq,
    Tensor,
    Value,
)
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

_One = Callable[[Value], Value]
#: What a batch can be made of: named tuples are no tuples to who builds them anew.
Kind = Literal["dict", "list", "tuple", "named", "record"]

_KINDS: dict[str, tuple[Kind, ...]] = {
    "dict": ("dict",), "Dict": ("dict",), "Mapping": ("dict",), "MutableMapping": ("dict",),
    "OrderedDict": ("dict",), "list": ("list",), "List": ("list",), "tuple": ("tuple",),
    "Tuple": ("tuple",), "Sequence": ("list", "tuple"), "Iterable": ("list", "tuple"),
}  # fmt: skip


@dataclass(frozen=True)
class Mover:
    """The kinds of structures that a function of this form moves, member by member.

    `rest`: what is neither a structure nor moves itself, it gives back as it is.
    """

    kinds: frozenset[Kind]
    rest: bool


#: What a batch of which nothing is known is made of.
ANY: frozenset[Kind] = frozenset(("dict", "list", "tuple"))
_ALL: frozenset[Kind] = frozenset(("dict", "list", "tuple", "named"))
#: Functions of libraries that do this.
LIBRARY = {
    "accelerate.utils.send_to_device": Mover(_ALL, rest=True),
    "accelerate.utils.operations.send_to_device": Mover(_ALL, rest=True),
    "ignite.utils.convert_tensor": Mover(_ALL, rest=True),
    "lightning.fabric.utilities.move_data_to_device": Mover(_ALL | {"record"}, rest=True),
    "lightning.pytorch.utilities.move_data_to_device": Mover(_ALL | {"record"}, rest=True),
    "pytorch_lightning.utilities.move_data_to_device": Mover(_ALL | {"record"}, rest=True),
}


class Structure:
    """What is in a batch: kinds of structures, tensors, and whether there is more, or unknown."""

    def __init__(self) -> None:
        self.kinds: set[Kind] = set()
        self.tensors: list[Tensor] = []
        self.rest = self.unknown = False

    def add(self, value: Value, depth: int = DEEP) -> None:
        """Take down what a value is, with its members."""
        kind = kind_of(value)
        if kind is not None and depth:
            self.kinds.add(kind)
            for member in members(value):
                self.add(member, depth - 1)
        elif isinstance(value, Tensor):
            self.tensors.append(value)
            # What a loader makes of what may be a text, and what is not known, may be texts.
            self.rest = self.rest or value.opaque or value.collated
        elif isinstance(value, (Const, Scalar, Array)):
            self.rest = True
        elif not (isinstance(value, Instance) and value.cls is not None and value.cls.lookup("to")):
            self.unknown = True


def call(
    run: Interpreter, func: Func, args: list[Arg], kwargs: dict[str, Arg], spot: Location
) -> Value | None:
    """Return the batch that a call of such a function gives, None for any other call."""
    known = mover(func.node) if func.bound is None and func.cls is None else None
    if known is None or not args:
        return None
    (batch, where), *rest = args
    scope = func.scope
    if isinstance(batch, Tensor) and batch.opaque and known.kinds >= ANY:
        return tensor_methods.tensor_method(run, batch, "to", rest, kwargs, where, spot, scope)
    if kind_of(batch) not in known.kinds:
        return None

    def one(member: Value) -> Value:
        if isinstance(member, Instance) and member.cls is not None and member.cls.lookup("to"):
            return calls.method(run, member, "to", scope, where.node, *(v for v, _ in rest))
        if isinstance(member, Tensor) or isinstance(member, Instance) and member.family == "module":
            return functions.call_func(run, func, [(member, where), *rest], kwargs, spot)
        return member if known.rest else UNKNOWN

    return _rebuilt(batch, known, one, DEEP)


def kind_of(value: Value) -> Kind | None:
    """Return what kind of structure a value is."""
    match value:
        case Dict():
            return "dict"
        case Seq(kind="list" | "tuple" as kind):
            return "list" if kind == "list" else "tuple"
        case Instance(family="", cls=cls, attrs=attrs) if (
            cls is not None and cls.lookup("to") is None
        ):
            if cls.kind == classes.TUPLE:
                return "named"
            if classes.is_record(cls) and {f.name for f in classes.fields(cls)} == set(attrs):
                return "record"
    return None


def members(value: Value) -> list[Value]:
    """Return the members of a structure."""
    if isinstance(value, (Seq, Dict)):
        return list(value.members())
    return list(value.attrs.values()) if isinstance(value, Instance) else []


def layered(value: Value) -> bool:
    """Tell whether a value is a structure of structures, or a record: names are not enough."""
    kind = kind_of(value)
    return kind in ("named", "record") or (
        kind is not None and any(next(tensors(member), None) for member in members(value)
                                 if not isinstance(member, Tensor))
    )  # fmt: skip


def tensors(value: Value, depth: int = DEEP) -> Iterator[Tensor]:
    """Yield the tensors in a structure."""
    if isinstance(value, Tensor):
        yield value
    elif depth and kind_of(value) is not None:
        for member in members(value):
            yield from tensors(member, depth - 1)


def _rebuilt(value: Value, known: Mover, one: _One, depth: int) -> Value:
    kind = kind_of(value)
    if kind not in known.kinds:
        return one(value)
    if not depth:
        return UNKNOWN

    def inner(member: Value) -> Value:
        return _rebuilt(member, known, one, depth - 1)

    match value:
        case Seq(items=items, element=element):
            held = None if items is None else [inner(member) for member in items]
            return value.of(held, None if element is None else inner(element))
        case Dict(items=entries, element=element):
            moved = {key: inner(member) for key, member in entries.items()}
            return value.of(moved, None if element is None else inner(element))
        case Instance():
            made = Instance(value.family, value.name, value.cls, value.fact)
            made.attrs = Attributes({name: inner(v) for name, v in value.attrs.items()})
            return made
    return one(value)


# -- their form -----------------------------------------------------------------------------


@syntax.per_node
def mover(node: FunctionNode) -> Mover | None:
    """Return what a function of the form `move_to(batch, device)` moves, None for any other.

    It asks what the batch is, gives a tensor to the device and a structure rebuilt of what it
    gives for the members, and changes nothing that it is handed.
    """
    if not isinstance(node, ast.FunctionDef) or node.decorator_list or len(node.args.args) < 2:
        return None
    batch, device = (argument.arg for argument in node.args.args[:2])
    form = _Form(node.name, batch, device)
    return form.mover() if form.reads(node.body) and form.tensors and form.kinds else None


class _Form:
    """Reads the body of a function as that of one that moves batches."""

    def __init__(self, name: str, batch: str, device: str) -> None:
        self._name, self._batch, self._device = name, batch, device
        self.kinds: set[Kind] = set()
        self.tensors = self.rest = False

    def mover(self) -> Mover:
        return Mover(frozenset(self.kinds), self.rest)

    def reads(self, body: Sequence[ast.stmt]) -> bool:
        """Tell whether statements are of this form, and take down what they move."""
        for statement in body:
            match statement:
                case ast.Expr(value=ast.Constant()) | ast.Raise() | ast.Pass():
                    pass
                case ast.If(test=test, body=inner, orelse=orelse):
                    if not (self._case(test, inner) and self.reads(orelse)):
                        return False
                case ast.Return(value=value):
                    if not self._leaf(value):
                        return False
                case _:
                    return False
        return True

    def _case(self, test: ast.expr, body: Sequence[ast.stmt]) -> bool:
        """Read what is done for one kind of batch."""
        if any(self._calls_itself(node) for node in _all(body)):
            if not self._only_builds(body):
                return False
            self.kinds.update(self._asked(test))
            return True
        match body:
            case [*_, ast.Return(value=value)]:
                return len(body) == 1 and self._leaf(value)
        return self.reads(body)

    def _leaf(self, value: ast.expr | None) -> bool:
        """Read what is given for what is no structure: it is moved, or stays as it is."""
        match value:
            case ast.Name(id=name) if name == self._batch:
                self.rest = True
                return True
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="to"),
                args=[ast.Name(id=device), *_],
            ) if name == self._batch and device == self._device:
                self.tensors = True
                return True
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="to"),
                keywords=[ast.keyword(arg="device", value=ast.Name(id=device)), *_],
            ) if name == self._batch and device == self._device:
                self.tensors = True
                return True
        return False

    def _calls_itself(self, node: ast.AST) -> bool:
        match node:
            case ast.Call(func=ast.Name(id=name), args=[_, ast.Name(id=device), *_]):
                return name == self._name and device == self._device
        return False

    def _only_builds(self, body: Sequence[ast.stmt]) -> bool:
        """Tell whether statements change nothing that the function is handed, and give something.

        What is put into is a name of their own.
        """
        own = {
            node.id
            for node in _all(body)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        } - {self._batch, self._device}
        for node in _all(body):
            match node:
                case ast.Name(id=name, ctx=ast.Store()) if name not in own:
                    return False
                case ast.Attribute(ctx=ast.Store()):
                    return False
                case ast.Subscript(value=owner, ctx=ast.Store()) if not (
                    isinstance(owner, ast.Name) and owner.id in own
                ):
                    return False
        return isinstance(body[-1], ast.Return)

    def _asked(self, test: ast.expr) -> set[Kind]:
        """Return the kinds of structures of which a test is true."""
        named = record = False
        kinds: set[Kind] = set()
        for node in ast.walk(test):
            match node:
                case ast.Constant(value="_fields"):
                    named = True
                case ast.Constant(value="__dataclass_fields__"):
                    record = True
                case ast.Name(id=word) | ast.Attribute(attr=word):
                    record = record or word == "is_dataclass"
                    kinds.update(_KINDS.get(word, ()))
        if record:
            return {"record"}
        return {"named"} if named else kinds


def _all(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    return (node for statement in body for node in ast.walk(statement))
