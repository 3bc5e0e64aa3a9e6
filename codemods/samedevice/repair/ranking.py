"""Where the name of a device comes from: one list, the nearest to the value first.

What a function says already it says again; else the value goes to what it meets; else the object,
the file, the callers or, last of all, a resolver name the device. Each source tells by itself
whether it can stand at a place: it gives None where it cannot.
"""

from __future__ import annotations

from collections.abc import Callable

from samedevice.finding import DeviceExpression
from samedevice.repair import (
    at_hand,
    handing,
    named,
    own_object,
    placed,
    processes,
    resolvers,
    spoken,
)
from samedevice.repair.asked import Asked

Source = Callable[[Asked], DeviceExpression | None]

RANKING: tuple[Source, ...] = (
    # what the function says
    spoken.given,
    spoken.above,
    spoken.own,
    # what a library says that moves the module, or has placed it
    own_object.moved_by_library,
    placed.by_library,
    # what its callers hand in, and the value is to meet
    at_hand.followed,
    # what is there while a module is built: where it is by then says nothing
    own_object.while_built,
    # what the object, the file, and what they import say
    named.nearest,
    named.of_imported,
    named.planned,
    own_object.declared,
    spoken.elsewhere,
    # what the value meets in the function: its inputs, and then what it makes itself
    at_hand.changed_in_place,
    at_hand.likely,
    at_hand.handed_in,
    at_hand.met_next,
    own_object.of_parameters,
    processes.own_device,
    at_hand.called_with,
    # what the callers can say, through a new parameter
    handing.parameter,
    # what the program has, or gets
    resolvers.shared,
)


def best(asked: Asked) -> DeviceExpression | None:
    """Return how the code at a place names its device, None where nothing can stand there."""
    return next((name for source in RANKING if (name := source(asked)) is not None), None)
