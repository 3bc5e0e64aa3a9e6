"""Where code does something with places: each such site once, with all its evaluations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from samedevice.places.graph import Node, Spot
from samedevice.places.objects import Scope
from samedevice.places.values import Value


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
    #: Nobody calls the function: its parameters stand for themselves.
    callers_unknown: bool = False
    #: It runs only where a test found an accelerator.
    under_device_test: bool = False
    order: int = 0

    def release(self) -> None:
        """Let go of the values that it speaks of, which refer to it."""
        self.detail.clear()
        if type(self) is not Site:
            for name in type(self).__slots__:
                delattr(self, name)


Event = TypeVar("Event", bound=Site, covariant=True)


@dataclass
class Group(Generic[Event]):
    """One place in the code, with every evaluation of it."""

    kind: str
    spot: Spot
    sites: list[Event] = field(default_factory=list)

    @property
    def first(self) -> Event:
        """The first evaluation."""
        return self.sites[0]


#: One place in the code where something of any kind happens.
SiteGroup = Group[Site]


def perhaps_number(node: Node) -> bool:
    """Tell whether a value was loaded onto the CPU, and nothing says that it is a tensor."""
    root = node.find()
    return root.name == "loaded" and not root.sure


def is_bare(site: Site) -> bool:
    """Tell whether a module is being built here that has nothing yet to ask for its device."""
    if not site.constructing:
        return False
    func = site.scope.func
    own = func is not None and getattr(func.node, "name", "") == "__init__"
    return own or not site.detail.get("has_state")
