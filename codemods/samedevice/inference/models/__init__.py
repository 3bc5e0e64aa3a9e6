"""What single functions of libraries do to values: one file for each library or area.

A model is a function that is registered under the dotted names that it is called by; it is given
the interpreter and the call. What can be said as data (which arguments meet, what is created) is in
`torchfacts` instead.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from samedevice.inference.nodes import Location
from samedevice.inference.objects import Instance, Scope
from samedevice.inference.values import Arg, Value
from samedevice.torchfacts import Fact

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

__all__ = [
    "Attributes", "Call", "Kind", "Methods", "Model", "attributes", "attributes_of", "handler",
    "kind", "methods",
    "methods_of", "model", "of_kind",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Call:
    """One call: its arguments, each with where it is written, and where it stands itself."""

    args: list[Arg]
    kwargs: dict[str, Arg]
    spot: Location
    scope: Scope


Model = Callable[["Interpreter", Call], Value]
#: What a call of anything does of which a fact of some kind is known: by its name and the fact.
Kind = Callable[["Interpreter", str, Fact, Call], Value]
#: What calls of an object's methods do; calling the object itself is its method `__call__`.
Methods = Callable[["Interpreter", Instance, str, Call], Value]

#: What attributes of an object are; None for a method, or for what is not known.
Attributes = Callable[["Interpreter", Instance, str, Location], "Value | None"]

_MODELS: dict[str, Model] = {}
_KINDS: dict[str, Kind] = {}
_METHODS: dict[str, Methods] = {}
_ATTRIBUTES: dict[str, Attributes] = {}
_INHERITED: set[str] = set()


def model(*names: str) -> Callable[[Model], Model]:
    """Register a model for what is imported under these dotted names."""

    def register(function: Model) -> Model:
        _MODELS.update(dict.fromkeys(names, function))
        return function

    return register


def kind(*names: str) -> Callable[[Kind], Kind]:
    """Register what calls do of which facts of these kinds are known (`torchfacts`)."""

    def register(function: Kind) -> Kind:
        _KINDS.update(dict.fromkeys(names, function))
        return function

    return register


def methods(*families: str, inherited: bool = False) -> Callable[[Methods], Methods]:
    """Register the methods of a library's objects, by what models of their makers call them.

    `inherited`: classes of the project that are made of the library's have them, too.
    """

    def register(function: Methods) -> Methods:
        _METHODS.update(dict.fromkeys(families, function))
        _INHERITED.update(families if inherited else ())
        return function

    return register


def attributes(*families: str) -> Callable[[Attributes], Attributes]:
    """Register the attributes of a library's objects that are no methods."""

    def register(function: Attributes) -> Attributes:
        _ATTRIBUTES.update(dict.fromkeys(families, function))
        return function

    return register


def attributes_of(owner: Instance) -> Attributes | None:
    """Return what knows the attributes of a library's object, if a model does."""
    _load()
    return _ATTRIBUTES.get(owner.family) if owner.cls is None else None


def methods_of(owner: Instance) -> Methods | None:
    """Return the methods of a library's object, if a model knows them."""
    _load()
    if owner.cls is not None and owner.family not in _INHERITED:
        return None
    return _METHODS.get(owner.family)


def handler(name: str) -> Model | None:
    """Return the model of a function or class, by its dotted name."""
    _load()
    return _MODELS.get(name)


def of_kind(name: str) -> Kind:
    """Return what calls do of which a fact of this kind is known; each kind has one."""
    _load()
    return _KINDS[name]


@cache
def _load() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
