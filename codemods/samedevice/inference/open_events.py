"""What happens to values and is not decided: events like those of `events`.

What meets what is not known, or only on some paths, or by callers whom nobody sees; and what
libraries are given, which may do anything with it.
"""

from __future__ import annotations

from dataclasses import dataclass

from samedevice.inference.nodes import Location, PlaceVar
from samedevice.inference.sites import Site


@dataclass(eq=False, slots=True, kw_only=True)
class Undecided(Site):
    """A value of which nothing is known meets what is at the site's place.

    `has_device`: it is an object of a library, which has a device of its own.
    """

    has_device: bool = False


@dataclass(eq=False, slots=True, kw_only=True)
class UnknownDevice(Site):
    """Something goes to a device, or a device is made, of which nothing is known."""


@dataclass(eq=False, slots=True, kw_only=True)
class Handed(Site):
    """A tensor is handed to a callable of which nothing is known: a module, perhaps."""


@dataclass(eq=False, slots=True, kw_only=True)
class MetApart(Site):
    """A value that is on the device on some paths only meets one that is on one side.

    `on_host`: that one is on the CPU.
    """

    on_host: bool = True


@dataclass(eq=False, slots=True)
class ReadApart(Site):
    """Code for the CPU, which `name` is, reads what is a tensor on some paths only.

    Where tensors and numbers are in one container, it reads both.
    """

    name: str


@dataclass(eq=False, slots=True, kw_only=True)
class MetUnknown(Site):
    """What a call of unknown code gives meets a tensor; `given` are the places of its arguments.

    `data`: it is used as only what has elements can be, whatever gave it.
    """

    data: bool = False
    given: tuple[PlaceVar, ...] = ()


@dataclass(eq=False, slots=True, kw_only=True)
class MetKept(Site):
    """A tensor that an earlier call kept, at `since`, meets one that is elsewhere in this call.

    `other`: the expression of that one; `on_host`: it is on the CPU.
    """

    since: Location
    other: Location
    on_host: bool


@dataclass(eq=False, slots=True, kw_only=True)
class MetByCallers(Site):
    """What a function that nobody calls is given as `parameter` meets a value on the device.

    `called`: it is called with that value.
    """

    parameter: Location
    called: bool = False


@dataclass(eq=False, slots=True, kw_only=True)
class HandedTogether(Site):
    """Tensors, and modules, are handed to one function of which nothing is known: they may meet.

    `nodes` are their places.
    """

    nodes: tuple[PlaceVar, ...] = ()


@dataclass(eq=False, slots=True, kw_only=True)
class Escaped(Site):
    """Tensors or modules go where nothing can be read: `nodes` are their places.

    `with_unknown`: something of which nothing is known goes with them.
    """

    nodes: tuple[PlaceVar, ...] = ()
    with_unknown: bool = False


@dataclass(eq=False, slots=True, kw_only=True)
class WhereAsked(Site):
    """Code asks whether a tensor is on an accelerator: what it does then is not what it did."""


@dataclass(eq=False, slots=True, kw_only=True)
class MovedAlone(Site):
    """One of several modules is moved, of which the rest is not told apart from it."""


@dataclass(eq=False, slots=True, kw_only=True)
class NotFollowed(Site):
    """Another evaluation stands for a call, which does more than is repeated for it.

    `nodes` are the places of what it is given.
    """

    nodes: tuple[PlaceVar, ...] = ()


@dataclass(eq=False, slots=True, kw_only=True)
class GivenAway(Site):
    """A module is handed to a library of which nothing is known: it may call it with anything.

    `memory`: it is the memory of a tensor that code beyond Python reads, or writes.
    """

    memory: bool = False


@dataclass(eq=False, slots=True, kw_only=True)
class Taken(Site):
    """A library's trainer takes a module to the device that it chooses, and leaves it there."""


@dataclass(eq=False, slots=True, kw_only=True)
class MetTaken(Site):
    """What is on the CPU meets a module that a trainer has taken away, or that callers move."""

    trainer: str = ""
