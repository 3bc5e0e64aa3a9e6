"""What an expression may evaluate to, as far as places are concerned.

Everything without a place (numbers, strings, arrays) is kept only as precisely as device handling
needs it. `Unknown` is an honest answer: it meets nothing and is never edited.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal

from samedevice.inference.nodes import Location, PlaceVar

if TYPE_CHECKING:
    from samedevice.inference.events import Produced
    from samedevice.inference.objects import Instance


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
Arg = tuple[Value, Location]

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
#: How many accelerators there are: a loop over as many only runs where there are some.
HOW_MANY = Scalar()
#: What divides by that number, where there may be none.
DIVIDES = "divides by a number of devices"
ARRAY = Array()


class Const(Value):
    """A constant, with the literal that it came from."""

    __slots__ = ("spot", "value")

    def __init__(self, value: Any, spot: Location | None = None) -> None:
        self.value = value
        self.spot = spot


NONE = Const(None)


class CliOption(Const):
    """A command-line option's default: what the user will choose is not known.

    `device` is the central device once the option is used as one.
    """

    __slots__ = ("device",)

    def __init__(self, value: Any, spot: Location | None = None) -> None:
        super().__init__(value, spot)
        self.device: Device | None = None


class Setting(Const):
    """What a file of settings says; `said_at` is the file and the line."""

    __slots__ = ("said_at",)

    def __init__(self, value: Any, said_at: str) -> None:
        super().__init__(value)
        self.said_at = said_at


class Texts(Scalar):
    """One of several texts, of which some name devices."""

    __slots__ = ("options",)

    def __init__(self, options: tuple[Const, ...]) -> None:
        self.options = options


class ChosenIndex(Const):
    """The index of a device where there is an accelerator, a negative number where there is none.

    `0 if torch.cuda.is_available() else -1`
    """

    __slots__ = ()


class ProcessIndex(Value):
    """The number of a process on its machine: another one in each, and the index of its device.

    `device` is the device with that index once the number is used as one. `absent`: it is negative
    where the program is not distributed.
    """

    __slots__ = ("absent", "device")

    def __init__(self, *, absent: bool = False) -> None:
        self.absent = absent
        self.device: Device | None = None


class DeviceTest(Value):
    """A boolean that is true exactly when the accelerator is used (or when it is not).

    `of_value`: it only says where some tensor is. `decides`: the device that is to be defined by
    it. `asks`: whether there is an accelerator is part of the question. `choice`: what the user
    chose on the command line is. `deciders`: what is asked beside the machine, options and other
    tests, which are the same objects in each test that asks them.
    """

    __slots__ = ("asks", "choice", "deciders", "decides", "of_value", "positive")

    def __init__(
        self, positive: bool = True, *, asks: bool = True, choice: bool = False,
        deciders: frozenset[object] = frozenset(),
    ) -> None:  # fmt: skip
        self.positive = positive
        self.asks = asks
        self.choice = choice
        self.deciders = deciders or (frozenset((self,)) if choice else deciders)
        self.of_value = False
        self.decides: Device | None = None

    def when(self, positive: bool) -> DeviceTest:
        """Return a test that asks the same, and is true where this one comes out so."""
        return DeviceTest(positive, asks=self.asks, choice=self.choice, deciders=self.deciders)


@dataclass(frozen=True)
class Choice:
    """An expression by which the user chooses the accelerator.

    `holds`: where the expression is true, false, not None, or a number that is not negative.
    """

    code: str
    holds: Literal["true", "false", "given", "positive"] = "true"


@dataclass(frozen=True)
class PlannedDefinition:
    """A definition of the device that may be written, after the statement at `spot`.

    `name` is what it is for, `torch` how the file calls torch, which it `imports_torch` for.
    `choices` all have to hold, and if it `asks`, there has to be an accelerator. `index` is the
    expression for the GPU's number, perhaps None if `index_absent`. `switch` is what others read
    for whether the accelerator is used: it has to be true for them.
    """

    spot: Location
    name: str
    torch: str
    choices: tuple[Choice, ...] = ()
    asks: bool = True
    index: str = ""
    index_absent: bool = False
    switch: str = ""
    imports_torch: bool = False


class Device(Value):
    """A `torch.device`, a device string or index: it is where its node is.

    `text` says that it is a string, so that comparisons and formats can be judged. `resolved`: it
    is chosen at run time (`"cuda" if torch.cuda.is_available() else "cpu"`). `planned`: it is not
    written yet, but could be. `partial`: its
    name is bound in one branch only. `rank`: the number of the process that is its index.
    `otherwise`: what it is where a branch was not taken, a text that names another. `counted`: it
    is some number that the program computed. `number`: it is the number of a GPU. `of_value`: it is
    where a tensor or a module is (`x.device`), and so the code that says it chooses none.
    """

    __slots__ = (
        "counted", "node", "number", "of_value", "otherwise", "partial", "planned", "rank",
        "resolved", "spot", "text",
    )  # fmt: skip

    def __init__(
        self,
        node: PlaceVar,
        spot: Location | None = None,
        *,
        text: bool = False,
        resolved: bool = False,
        rank: ProcessIndex | None = None,
        of_value: bool = False,
        number: bool = False,
    ) -> None:
        self.node = node
        self.number = number
        self.of_value = of_value
        self.spot = spot
        self.text = text
        self.resolved = resolved
        self.planned: PlannedDefinition | None = None
        self.partial = False
        self.rank = rank
        self.otherwise: Const | None = None
        self.counted = False

    def at(self, node: PlaceVar) -> Device:
        """Return a device that is said in the same way and stands for another place."""
        return Device(
            node, self.spot, text=self.text, resolved=self.resolved, rank=self.rank,
            of_value=self.of_value, number=self.number,
        )  # fmt: skip

    def is_number(self) -> bool:
        """Tell whether it is a number, an index: written as one, or asked of CUDA."""
        if self.number:
            return True
        node = self.spot.node if self.spot is not None else None
        return isinstance(node, ast.Constant) and type(node.value) is int


class Doubt(IntEnum):
    """What a value that is a tensor on one path may be on another one."""

    NONE = 0  #: a tensor on every path
    ABSENT = 1  #: `None`
    OTHER = 2  #: a number, an array, something unknown


class Shown(IntEnum):
    """What a value of which only its use tells is shown to be, by what is done with it."""

    NOTHING = 0  #: nothing but a tensor
    OBJECT = 1  #: it is asked for what no tensor has
    MAPPING = 2  #: it has entries under texts
    LIST = 3  #: its members are joined: a list of tensors


class Tensor(Value):
    """A tensor, or a structure of tensors in one place that is not known more closely.

    Its node's `sure` is false for a value that is a tensor only as far as its use suggests (a
    parameter of a function that nobody calls). `scalar`: it has no dimensions, so it may mix with
    any device in elementwise operations. `row`: it has one dimension, and its members have none.
    `picked`: it was taken out of another one by numbers, and may well have no dimensions.
    `opaque`: its structure is not known, each member may be
    somewhere else. `leaf`: it asks for gradients, so it must not be moved after its creation.
    `parameter`: an `nn.Parameter`, or one that was moved: the same one where nothing had to move.
    `collated`: a loader makes it of numbers, or a list of what turns out to be texts. `doubt`: what
    it may be on another path. `shown`: what its use shows it to be. `owner` is the module whose
    parameter it is: as long as it is `lent`, it is where the module is by now, since a move changes
    the parameters themselves.
    """

    __slots__ = (
        "_node", "collated", "doubt", "leaf", "lent", "names_device", "owner", "opaque",
        "parameter", "picked", "pinned", "row", "scalar", "shown", "site",
    )  # fmt: skip

    def __init__(
        self, node: PlaceVar, *, scalar: bool = False, site: Produced | None = None
    ) -> None:
        self._node = node
        self.lent = False
        self.scalar = scalar
        self.row = False
        self.picked = False
        self.site = site
        self.collated = False
        self.leaf = False
        self.parameter = False
        self.opaque = False
        self.pinned = False
        self.names_device = False
        self.doubt = Doubt.NONE
        self.shown = Shown.NOTHING
        self.owner: Instance | None = None  # the module whose parameter it is

    @property
    def node(self) -> PlaceVar:
        """The place."""
        if self.lent and self.owner is not None and self.owner.node is not None:
            return self.owner.node
        return self._node

    @node.setter
    def node(self, node: PlaceVar) -> None:
        self._node, self.lent = node, False

    def copy(self) -> Tensor:
        """Return the same tensor as a value of its own."""
        made = Tensor(self._node, scalar=self.scalar, site=self.site)
        made.lent = self.lent
        made.leaf, made.parameter, made.opaque = self.leaf, self.parameter, self.opaque
        made.pinned, made.owner, made.collated = self.pinned, self.owner, self.collated
        made.doubt, made.row, made.picked = self.doubt, self.row, self.picked
        made.shown = self.shown
        return made

    def doubted(self, doubt: Doubt) -> Tensor:
        """Return the same tensor, which is something else on another path."""
        if self.doubt >= doubt:
            return self
        made = self.copy()
        made.doubt = doubt
        return made

    def made_of(self, *origins: Tensor) -> Tensor:
        """Return the same tensor; where all that it is made of may be arrays, it may be one."""
        if all(origin.doubt is Doubt.OTHER for origin in origins):
            return self.doubted(Doubt.OTHER)
        return self


def parameter_of(owner: Instance) -> Tensor:
    """Return a parameter of a module that has a place."""
    assert owner.node is not None
    made = Tensor(owner.node)
    made.leaf, made.owner, made.lent = True, owner, True
    return made


def surely_tensor(value: Value) -> bool:
    """Tell whether a value is one tensor, as far as can be known."""
    return (
        isinstance(value, Tensor)
        and value.node.find().is_tensor
        and not value.opaque
        and value.doubt is not Doubt.OTHER
    )


def always_tensor(value: Value) -> bool:
    """Tell whether a value is one tensor on every path: not `None` on another one, either."""
    return isinstance(value, Tensor) and surely_tensor(value) and value.doubt is Doubt.NONE


class Seq(Value):
    """A tuple, list or set: known members, or any number of `element`.

    `added` are the tensors of which it was made, or that were appended to what was empty before,
    and nothing else, or None.
    `perhaps`: on another path it is something else.
    """

    __slots__ = ("added", "element", "items", "kind", "perhaps", "spot")

    def __init__(
        self,
        kind: str,
        items: list[Value] | None = None,
        element: Value | None = None,
        spot: Location | None = None,
    ) -> None:
        self.kind = kind
        self.items = items
        self.element = element
        self.spot = spot
        self.added: tuple[tuple[Tensor, Location], ...] | None = None if items or element else ()
        self.perhaps = False

    def of(
        self, items: list[Value] | None, element: Value | None, spot: Location | None = None
    ) -> Seq:
        """Return such a container of other members."""
        made = Seq(self.kind, items, element, spot)
        made.perhaps = self.perhaps
        return made

    def members(self) -> Iterable[Value]:
        """Return every member that is known."""
        if self.items:
            yield from self.items
        if self.element is not None:
            yield self.element


class Dict(Value):
    """A mapping: members by constant key, and `element` for the others.

    `perhaps`: on another path it is something else. `factory`: by what it makes a member for a key
    that it lacks, and `late`, if it has made none yet.
    """

    __slots__ = ("element", "factory", "items", "keys", "late", "perhaps", "spot")

    def __init__(
        self, items: dict[Any, Value] | None = None, element: Value | None = None,
        spot: Location | None = None,
    ) -> None:  # fmt: skip
        self.items = items if items is not None else {}
        self.element = element
        self.keys: Value = SCALAR
        self.factory: Value | None = None
        self.late = False
        self.perhaps = False
        self.spot = spot

    def of(
        self, items: dict[Any, Value], element: Value | None, spot: Location | None = None
    ) -> Dict:
        """Return such a mapping of other members."""
        made = Dict(items, element, spot)
        made.perhaps = self.perhaps
        return made

    def members(self) -> Iterable[Value]:
        """Return every member that is known."""
        yield from self.items.values()
        if self.element is not None:
            yield self.element


class Iter(Value):
    """Something that yields `element`; `source` is what it runs over.

    Of a generator, `result` is what it returns in the end, `call` how it is made once more,
    `received` what was sent to it, and `inside` the devices that it has entered where it yields.
    """

    __slots__ = ("call", "element", "inside", "received", "result", "source")

    def __init__(self, element: Value, source: Value | None = None) -> None:
        self.element = element
        self.source = source
        self.result: Value | None = None
        self.call: tuple[FunctionNode, Callable[[], Value]] | None = None
        self.received: Value | None = None
        self.inside: tuple[Arg, ...] = ()
