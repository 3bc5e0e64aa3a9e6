"""Where code does something with places: each such site once, with all its evaluations."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass, field, fields
from typing import Generic, NamedTuple, TypeVar

from samedevice.inference.environment import Path
from samedevice.inference.nodes import Aside, Cause, Location, PlaceVar
from samedevice.inference.objects import Scope
from samedevice.inference.values import Value


@dataclass(eq=False, slots=True)
class Site:
    """An expression that decides or demands a place, in one evaluation of its function.

    What happens there is said by its class: one of those in `events.py`.
    """

    spot: Location
    node: PlaceVar | None
    scope: Scope
    name: str = ""
    devices: list[tuple[str, Value, bool]] = field(default_factory=list)
    tensors: list[tuple[str, PlaceVar]] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    in_constructor: bool = False
    in_worker: bool = False
    #: Nobody calls the function: its parameters stand for themselves.
    callers_unknown: bool = False
    #: It runs only where a test found an accelerator.
    under_device_test: bool = False
    #: What has to be chosen for that: options, and tests beside them.
    deciders: frozenset[object] = frozenset()
    #: It only shows how a module works.
    shown: bool = False
    #: The test that it is in.
    aside: Aside | None = None
    #: Where it is evaluated, if other paths run beside.
    path: Path | None = None
    order: int = 0

    @property
    def stays(self) -> bool:
        """Whether what is made here is for the CPU: it shows something, or is in such a test."""
        return self.shown or self.aside is not None and self.aside.apart

    def release(self) -> None:
        """Let go of the values that it speaks of, which refer to it."""
        for each in fields(self):
            if each.name not in _COMMON:
                delattr(self, each.name)


_COMMON = frozenset(each.name for each in fields(Site))

Event = TypeVar("Event", bound=Site, covariant=True)


@dataclass
class Group(Generic[Event]):
    """One place in the code, with every evaluation of it."""

    spot: Location
    sites: list[Event] = field(default_factory=list)

    @property
    def first(self) -> Event:
        """The first evaluation."""
        return self.sites[0]


#: One place in the code where something of any kind happens.
SiteGroup = Group[Site]


class HandedIn(NamedTuple):
    """A tensor that a call hands in, where, in which function, and as what: position or name."""

    node: PlaceVar
    where: Location
    caller: ast.AST | None
    name: int | str

    def is_for(self, names: Collection[str], function: ast.AST) -> bool:
        """Tell whether it is for one of some parameters of a function."""
        spec = getattr(function, "args", None)
        if isinstance(self.name, str) or not isinstance(spec, ast.arguments):
            return self.name in names
        known = [arg.arg for arg in (*spec.posonlyargs, *spec.args)]
        at = self.name + (known[:1] in (["self"], ["cls"]))
        return at < len(known) and known[at] in names


class LeftOut(NamedTuple):
    """A call that leaves an argument out, and its parameter; `uncalled` if nobody runs it."""

    call: Location
    parameter: str
    uncalled: bool = False


def perhaps_number(node: PlaceVar) -> bool:
    """Tell whether a value was loaded onto the CPU, and nothing says that it is a tensor."""
    root = node.find()
    return root.cause is Cause.FILE and not root.is_tensor


def is_told(site: Site) -> bool:
    """Tell whether a place is in an object's own `to`, which nobody calls yet: it is told where."""
    func = site.scope.func
    if func is None or func.cls is None or not site.callers_unknown:
        return False
    return getattr(func.node, "name", "") == "to"
