"""What the constraint graph is made of: places, why they are so, nodes, and what meets."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

T = TypeVar("T")


class Place(Enum):
    """Where a value lives; see the words in the documentation."""

    HOST = "host"
    CENTRAL = "central"
    FIXED = "fixed"
    FOLLOWS = "follows"
    UNKNOWN = "unknown"


#: Where a value of the device is.
ON_DEVICE = (Place.CENTRAL, Place.FOLLOWS)


class Cause(Enum):
    """Why a value certainly is where it is."""

    CODE = "the code says so"
    SEED = "a program for the CPU is to compute on the device"
    FILE = "it was loaded there"
    TO_CPU = "a module was moved to the CPU"
    UNMOVED = "a module that moves later is still on the CPU"


@dataclass(eq=False, slots=True)
class Aside:
    """Code whose values are `apart`: what they meet says nothing of where anything has to be.

    `shows_error`: it shows what happens where values meet that are on two devices.
    """

    apart: bool = True
    shows_error: bool = False


class Location:
    """An expression or statement in a file."""

    __slots__ = ("node", "path")

    def __init__(self, path: str, node: ast.AST) -> None:
        self.path = path
        self.node = node


#: What most nodes have to say of a relation; `_add` makes a list of it.
NONE: list[Any] = []


class PlaceVar:
    """The place of one value, to be found."""

    __slots__ = (
        "_parent",
        "place",
        "reason",
        "pin",
        "pin_spot",
        "spots",
        "meets",
        "flows_to",
        "flows_from",
        "drawn_from",
        "indexes",
        "indexed_by",
        "weak_host",
        "host_required_at",
        "name",
        "cause",
        "is_tensor",
        "agrees",
        "stored",
        "joins",
        "read_there",
        "open",
        "kept",
    )

    def __init__(self, spot: Location | None = None) -> None:
        self._parent: PlaceVar = self
        self.place: Place | None = None
        self.reason: Location | None = None
        self.pin: Place | None = None
        self.pin_spot: Location | None = None
        self.name = ""  # the device, as code names it
        self.cause = Cause.CODE
        self.is_tensor = True
        self.agrees = False
        self.joins = False
        self.read_there = False  # as an array, or to be moved: code expects it on the CPU
        self.open = False  # what pins it is code that nobody is known to call
        # Of what is made where an input is, whether later calls have it: None for anything else.
        self.kept: bool | None = None
        self.stored: list[PlaceVar] = NONE
        self.spots: list[Location] = [spot] if spot else NONE
        self.meets: list[Agree] = NONE
        self.flows_to: list[PlaceVar] = NONE
        self.flows_from: list[PlaceVar] = NONE
        self.drawn_from: list[PlaceVar] = NONE
        self.indexes: list[Agree] = NONE
        self.indexed_by: list[Agree] = NONE
        self.weak_host = False
        self.host_required_at: Location | None = None

    def find(self) -> PlaceVar:
        """Return the representative of all nodes that share this place."""
        root = self
        while root._parent is not root:
            root = root._parent
        node = self
        while node._parent is not root:
            node._parent, node = root, node._parent
        return root


def add(known: list[T], item: T) -> list[T]:
    """Return a list with one more item: the same one, unless it is that of all."""
    if known is NONE:
        return [item]
    known.append(item)
    return known


@dataclass(eq=False, slots=True)
class Agree:
    """Two operands of one operation: `left` and `right` with the expressions they enter through."""

    left: PlaceVar
    right: PlaceVar
    left_spot: Location
    right_spot: Location
    operation: Location
    kind: str = "meets"
    function: ast.AST | None = None
    #: It was seen in code that nobody is known to call.
    open: bool = False
    #: The test that it was seen in.
    aside: Aside | None = None


@dataclass(eq=False, slots=True)
class Clash:
    """A value that is certainly elsewhere enters an operation on the device through `spot`."""

    node: PlaceVar
    spot: Location
    meet: Agree
    other: PlaceVar
    to_host: bool = False
