"""What an expression may evaluate to, as far as places are concerned.

Everything without a place (numbers, strings, arrays) is kept only as precisely as device handling
needs it. `Unknown` is an honest answer: it meets nothing and is never edited.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from samedevice.places.graph import Node, Spot

if TYPE_CHECKING:
    from samedevice.torchfacts import Fact


FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Value:
    """Base of all abstract values."""

    __slots__ = ()


class Unknown(Value):
    """Something nothing is known about."""

    __slots__ = ()


class Scalar(Value):
    """A Python number, string or size whose value is not known."""

    __slots__ = ()


class Array(Value):
    """A NumPy array, a PIL image, a data frame: data on the host that is no tensor."""

    __slots__ = ()


#: One argument of a call: its value and where it is written.
Arg = tuple[Value, Spot]

#: How deep containers in containers are joined and copied; one may hold itself.
DEEP = 6

#: The text that names an accelerator, and its number.
DEVICE = re.compile(r"(cuda|mps|xpu|hpu|npu|mlu|musa|xla)(?::(\d+))?")

UNKNOWN = Unknown()
#: A member of what is empty: no code ever meets it.
NOTHING = Unknown()
SCALAR = Scalar()
#: A number that a loop begins to count or to sum with: what it is where no round ran.
STARTED = Scalar()
ARRAY = Array()


class Const(Value):
    """A constant, with the literal that it came from."""

    __slots__ = ("spot", "value")

    def __init__(self, value: Any, spot: Spot | None = None) -> None:
        self.value = value
        self.spot = spot


NONE = Const(None)


class Option(Const):
    """A command-line option's default: what the user will choose is not known.

    `device` is the central device once the option is used as one.
    """

    __slots__ = ("device",)

    def __init__(self, value: Any, spot: Spot | None = None) -> None:
        super().__init__(value, spot)
        self.device: Device | None = None


class Rank(Value):
    """The number of a process on its machine: another one in each, and the index of its device.

    `device` is the device with that index once the number is used as one. `absent`: it is negative
    where the program is not distributed.
    """

    __slots__ = ("absent", "device")

    def __init__(self, *, absent: bool = False) -> None:
        self.absent = absent
        self.device: Device | None = None


class Flag(Value):
    """A boolean that is true exactly when the accelerator is used (or when it is not).

    `of_value`: it only says where some tensor is. `decides`: the device that is to be defined by
    it. `asks`: whether there is an accelerator is part of the question. `choice`: what the user
    chose on the command line is.
    """

    __slots__ = ("asks", "choice", "decides", "of_value", "positive")

    def __init__(self, positive: bool = True, *, asks: bool = True, choice: bool = False) -> None:
        self.positive = positive
        self.asks = asks
        self.choice = choice
        self.of_value = False
        self.decides: Device | None = None


@dataclass(frozen=True)
class Pending:
    """A definition of the device that may be written, and the statement that it would follow."""

    spot: Spot
    code: str
    index: str = ""  # the expression for the GPU's number in it
    imports_torch: bool = False


class Device(Value):
    """A `torch.device`, a device string or index: it is where its node is.

    `text` says that it is a string, so that comparisons and formats can be judged. `resolved`: it
    is chosen at run time (`"cuda" if torch.cuda.is_available() else "cpu"`). `pending`: it is not
    written yet: a name for it may be defined by this code, after this statement. `partial`: its
    name is bound in one branch only. `rank`: the number of the process that is its index.
    `otherwise`: what it is where a branch was not taken, a text that names another. `counted`: it
    is some number that the program computed.
    """

    __slots__ = (
        "counted", "node", "otherwise", "partial", "pending", "rank", "resolved", "spot", "text",
    )  # fmt: skip

    def __init__(
        self, node: Node, spot: Spot | None = None, *, text: bool = False, resolved: bool = False,
        rank: Rank | None = None,
    ) -> None:  # fmt: skip
        self.node = node
        self.spot = spot
        self.text = text
        self.resolved = resolved
        self.pending: Pending | None = None
        self.partial = False
        self.rank = rank
        self.otherwise: Const | None = None
        self.counted = False


class Doubt(IntEnum):
    """What a value that is a tensor on one path may be on another one."""

    NONE = 0  #: a tensor on every path
    ABSENT = 1  #: `None`
    OTHER = 2  #: a number, an array, something unknown


class Tensor(Value):
    """A tensor, or a structure of tensors in one place that is not known more closely.

    Its node's `sure` is false for a value that is a tensor only as far as its use suggests (a
    parameter of a function that nobody calls). `scalar`: it has no dimensions, so it may mix with
    any device in elementwise operations. `packed`: its structure is not known, each member may be
    somewhere else. `leaf`: it asks for gradients, so it must not be moved after its creation.
    `parameter`: an `nn.Parameter`, or one that was moved: the same one where nothing had to move.
    `collated`: a loader makes it of numbers, or a list of what turns out to be texts. `doubt`: what
    it may be on another path. `owner` is the module whose parameter it is: as long as it is
    `lent`, it is where the module is by now, since a move changes the parameters themselves.
    """

    __slots__ = (
        "_node", "collated", "doubt", "leaf", "lent", "names_device", "owner", "packed",
        "parameter", "pinned", "scalar", "site",
    )  # fmt: skip

    def __init__(self, node: Node, *, scalar: bool = False, site: Site | None = None) -> None:
        self._node = node
        self.lent = False
        self.scalar = scalar
        self.site = site
        self.collated = False
        self.leaf = False
        self.parameter = False
        self.packed = False
        self.pinned = False
        self.names_device = False
        self.doubt = Doubt.NONE
        self.owner: Obj | None = None  # the module whose parameter it is

    @property
    def node(self) -> Node:
        """The place."""
        if self.lent and self.owner is not None and self.owner.node is not None:
            return self.owner.node
        return self._node

    @node.setter
    def node(self, node: Node) -> None:
        self._node, self.lent = node, False

    def copy(self) -> Tensor:
        """Return the same tensor as a value of its own."""
        made = Tensor(self._node, scalar=self.scalar, site=self.site)
        made.lent = self.lent
        made.leaf, made.parameter, made.packed = self.leaf, self.parameter, self.packed
        made.pinned, made.owner, made.collated = self.pinned, self.owner, self.collated
        made.doubt = self.doubt
        return made

    def doubted(self, doubt: Doubt) -> Tensor:
        """Return the same tensor, which is something else on another path."""
        if self.doubt >= doubt:
            return self
        made = self.copy()
        made.doubt = doubt
        return made


def parameter_of(owner: Obj) -> Tensor:
    """Return a parameter of a module that has a place."""
    assert owner.node is not None
    made = Tensor(owner.node)
    made.leaf, made.owner, made.lent = True, owner, True
    return made


def surely_tensor(value: Value) -> bool:
    """Tell whether a value is one tensor, as far as can be known."""
    return (
        isinstance(value, Tensor)
        and value.node.find().sure
        and not value.packed
        and value.doubt is not Doubt.OTHER
    )


def always_tensor(value: Value) -> bool:
    """Tell whether a value is one tensor on every path: not `None` on another one, either."""
    return isinstance(value, Tensor) and surely_tensor(value) and value.doubt is Doubt.NONE


class Seq(Value):
    """A tuple, list or set: known members, or any number of `element`.

    `added` are the tensors that were appended to what was empty before, and nothing else, or None.
    """

    __slots__ = ("added", "element", "items", "kind", "spot")

    def __init__(
        self,
        kind: str,
        items: list[Value] | None = None,
        element: Value | None = None,
        spot: Spot | None = None,
    ) -> None:
        self.kind = kind
        self.items = items
        self.element = element
        self.spot = spot
        self.added: tuple[tuple[Tensor, Spot], ...] | None = None if items or element else ()

    def members(self) -> Iterable[Value]:
        """Return every member that is known."""
        if self.items:
            yield from self.items
        if self.element is not None:
            yield self.element


class Dict(Value):
    """A mapping: members by constant key, and `element` for the others."""

    __slots__ = ("element", "items", "keys", "spot")

    def __init__(
        self, items: dict[Any, Value] | None = None, element: Value | None = None,
        spot: Spot | None = None,
    ) -> None:  # fmt: skip
        self.items = items if items is not None else {}
        self.element = element
        self.keys: Value = SCALAR
        self.spot = spot

    def members(self) -> Iterable[Value]:
        """Return every member that is known."""
        yield from self.items.values()
        if self.element is not None:
            yield self.element


class Iter(Value):
    """Something that yields `element`; `source` is what it runs over.

    Of a generator, `result` is what it returns in the end, `call` how it is made once more, and
    `received` what was sent to it.
    """

    __slots__ = ("call", "element", "received", "result", "source")

    def __init__(self, element: Value, source: Value | None = None) -> None:
        self.element = element
        self.source = source
        self.result: Value | None = None
        self.call: tuple[FunctionNode, Callable[[], Value]] | None = None
        self.received: Value | None = None


class Names(dict[str, Value]):
    """What names are bound to.

    `devices` are those that may name a device, or have an attribute that does: few among many.
    `classes` are the project's classes.
    """

    __slots__ = ("classes", "devices")

    def __init__(self) -> None:
        self.devices: dict[str, Value] = {}
        self.classes: dict[str, Klass] = {}

    def __setitem__(self, name: str, value: Value) -> None:
        dict.__setitem__(self, name, value)
        kind = value.__class__
        if kind in NAMING and _names_device(value):
            self.devices[name] = value
        elif self.devices and name in self.devices:
            del self.devices[name]
        if kind is Klass:
            assert isinstance(value, Klass)
            self.classes[name] = value
        elif self.classes and name in self.classes:
            del self.classes[name]

    def drop(self, name: str) -> None:
        """Forget a name."""
        self.pop(name, None)
        self.devices.pop(name, None)
        self.classes.pop(name, None)

    def clear(self) -> None:
        """Forget all names."""
        super().clear()
        self.devices.clear()
        self.classes.clear()

    def copy(self) -> Names:
        """Return the same names, to be bound to something else."""
        made = Names()
        dict.update(made, self)
        made.devices = self.devices.copy()
        made.classes = self.classes.copy()
        return made


class Scope:
    """Names and what they are bound to: a function call, a class body or a file."""

    __slots__ = (
        "building", "call", "cls", "func", "globals", "keys", "names", "node", "outer", "path",
        "self_value", "tests", "writes",
    )  # fmt: skip

    def __init__(
        self, path: str, node: ast.AST, outer: Scope | None, globals_: Scope | None = None
    ) -> None:
        self.path = path
        self.node = node
        self.outer = outer
        self.globals: Scope = globals_ if globals_ is not None else self
        self.names = Names()
        self.func: Func | None = None
        self.cls: Klass | None = None
        self.self_value: Value | None = None
        self.call: Spot | None = None
        self.building = False  # it runs while a module is built
        self.writes: set[str] | None = None
        # Names that hold a text with a tensor's device in it, and that tensor.
        self.keys: dict[str, ast.expr] = {}
        # Names that hold a test, with what the names in it were bound to then.
        self.tests: dict[str, tuple[ast.expr, dict[str, Value]]] = {}

    def lookup(self, name: str) -> Value | None:
        """Return what a name is bound to where this code runs, None where nothing is known."""
        level: Scope | None = self
        while level is not None:
            value = level.names.get(name)
            if value is not None and (
                level is self or level.cls is None or level.node is not level.cls.node
            ):
                return value
            level = level.outer
        return None


class Func(Value):
    """A function or method of the project; `bound` is its `self`."""

    __slots__ = ("bound", "cls", "getter", "node", "scope", "static")

    def __init__(
        self,
        node: FunctionNode,
        scope: Scope,
        bound: Value | None = None,
        cls: Klass | None = None,
        static: str = "",
    ) -> None:
        self.node = node
        self.scope = scope
        self.bound = bound
        self.cls = cls
        self.static = static
        self.getter: Func | None = None  # of a property's setter


class Klass(Value):
    """A class of the project; `kind` is "tuple" for a named tuple; `meta` is its metaclass."""

    __slots__ = (
        "bases", "context", "family", "fact", "kind", "meta", "names", "node", "order", "scope",
        "symbolic", "stateful",
    )  # fmt: skip

    def __init__(self, node: ast.ClassDef, scope: Scope, bases: list[Value]) -> None:
        self.node = node
        self.scope = scope
        self.bases = bases
        self.names = Names()
        self.family = ""
        self.fact: Fact | None = None
        self.symbolic: Obj | None = None
        self.context: Obj | None = None  # what the forward of an autograd function saves
        self.stateful: bool | None = None
        self.kind = ""
        self.meta: Klass | None = None
        self.order: list[Klass] | None = None

    def mro(self) -> list[Klass]:
        """Return this class and the project's classes that it inherits from, as Python orders them.

        Where the bases have no such order, which is an error, they are taken one by one.
        """
        if self.order is None:
            self.order = [self]  # of a class that is its own base, as good as any
            bases = [base for base in self.bases if isinstance(base, Klass)]
            self.order = [self, *_merged([*(base.mro() for base in bases), bases])]
        return self.order

    def lookup(self, name: str) -> Value | None:
        """Return what the name means in the class or the project's classes above it."""
        for klass in self.mro():
            if name in klass.names:
                return klass.names[name]
        return None


def _merged(lists: list[list[Klass]]) -> list[Klass]:
    """Return the classes of several orders in one that keeps each (C3)."""
    left = [list(order) for order in lists if order]
    found: list[Klass] = []
    while left:
        tails = {klass for order in left for klass in order[1:]}
        best = next((order[0] for order in left if order[0] not in tails), left[0][0])
        found.append(best)
        left = [rest for order in left if (rest := [k for k in order if k is not best])]
    return found


class Obj(Value):
    """An instance: of a class of the project (`cls`), or of a library's (`fact`).

    A module has a `node`: the place of its parameters by now. `parent` is the module that
    registered it, `parts` are those that are where it is; `awaited` are places of what it is yet
    to compute, as its hooks see it;
    `borrows` are parts that a caller handed in, who moves them; each of these is `shared`.
    """

    __slots__ = (
        "args", "attrs", "awaited", "borrows", "calls", "cls", "copied_from", "copies", "fact",
        "family", "kwargs", "moves", "name", "node", "parent", "parts", "plain", "shared", "site",
        "stateful", "used",
    )  # fmt: skip

    def __init__(
        self,
        family: str,
        name: str = "",
        cls: Klass | None = None,
        fact: Fact | None = None,
        node: Node | None = None,
    ) -> None:
        self.family = family
        self.name = name
        self.cls = cls
        self.fact = fact
        self.node = node
        self.attrs: dict[str, Value] = {}
        self.parent: Obj | None = None
        self.borrows: list[Obj] = []
        self.shared = False
        self.plain = False
        self.site: Site | None = None
        self.stateful = False
        self.used = False
        self.calls = 0
        self.moves: list[Spot] = []
        self.args: list[Value] = []
        self.kwargs: dict[str, Value] = {}
        self.copied_from: Obj | None = None
        self.copies: list[Obj] = []
        self.parts: list[Obj] = []
        self.awaited: list[Node] = []

    def wrapped(self) -> Obj | None:
        """Return the module that this one only wraps (`DataParallel`): they move together."""
        inner = self.attrs.get("module")
        return inner if isinstance(inner, Obj) and inner is self.parent else None

    def is_whole(self) -> bool:
        """Tell whether a module was built here, and is no part of another one."""
        return self.parent is None and not self.shared and self.site is not None

    def wholes(self) -> list[Obj]:
        """Return this instance, the module that it is a part of, the one that this is of, ..."""
        found = [self]
        while (parent := found[-1].parent) is not None and parent not in found:
            found.append(parent)
        return found


class Either(Value):
    """One of several modules: what is done to it is done to each."""

    __slots__ = ("options",)

    def __init__(self, options: list[Value]) -> None:
        self.options = options


class Partial(Value):
    """A callee with some of its arguments, each with the expression that it is written as."""

    __slots__ = ("args", "callee", "kwargs")

    def __init__(
        self, callee: Value, args: list[tuple[Value, Spot]], kwargs: dict[str, tuple[Value, Spot]]
    ) -> None:
        self.callee = callee
        self.args = args
        self.kwargs = kwargs


class Ext(Value):
    """A name of a library, by its dotted path; `receiver` is set for a method."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Method(Value):
    """A method of a tensor, module or container, bound to its receiver."""

    __slots__ = ("name", "receiver", "spot")

    def __init__(self, receiver: Value, name: str, spot: Spot) -> None:
        self.receiver = receiver
        self.name = name
        self.spot = spot


class Namespace(Value):
    """A file of the project as an imported module."""

    __slots__ = ("path", "scope")

    def __init__(self, path: str, scope: Scope) -> None:
        self.path = path
        self.scope = scope


class Super(Value):
    """`super()` inside a method."""

    __slots__ = ("cls", "obj")

    def __init__(self, cls: Klass, obj: Value) -> None:
        self.cls = cls
        self.obj = obj


#: Values that may name a device, some of them.
NAMING = frozenset((Device, Rank, Const, Option, Tensor, Obj))


def _names_device(value: Value) -> bool:
    """Tell whether code may name a device by a value, or by an attribute of it."""
    match value:
        case Const(value=text):
            return text.__class__ is str
        case Tensor():
            return value.names_device
        case Obj():
            if value.family == "module":
                return value.cls is not None or bool(value.attrs)
            return value.family != "parser"
    return True


@dataclass(eq=False, slots=True)
class Site:
    """An expression that decides or demands a place, in one evaluation of its function."""

    kind: str
    spot: Spot
    node: Node | None
    scope: Scope
    name: str = ""
    detail: dict[str, Any] = field(default_factory=dict)
    devices: list[tuple[str, Value, bool]] = field(default_factory=list)
    tensors: list[tuple[str, Node]] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    constructing: bool = False
    hosted: bool = False
    order: int = 0
