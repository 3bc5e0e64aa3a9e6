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

from samedevice.places.expressions import Arg
from samedevice.places.graph import Spot
from samedevice.places.values import Obj, Scope, Value

if TYPE_CHECKING:
    from samedevice.places.library import Library

__all__ = ["Call", "Methods", "Model", "handler", "methods", "methods_of", "model"]


@dataclass(frozen=True)
class Call:
    """One call: its arguments, each with where it is written, and where it stands itself."""

    args: list[Arg]
    kwargs: dict[str, Arg]
    spot: Spot
    scope: Scope


Model = Callable[["Library", Call], Value]
#: What calls of an object's methods do; calling the object itself is its method `__call__`.
Methods = Callable[["Library", Obj, str, Call], Value]

_MODELS: dict[str, Model] = {}
_METHODS: dict[str, Methods] = {}


def model(*names: str) -> Callable[[Model], Model]:
    """Register a model for what is imported under these dotted names."""

    def register(function: Model) -> Model:
        _MODELS.update(dict.fromkeys(names, function))
        return function

    return register


def methods(*families: str) -> Callable[[Methods], Methods]:
    """Register the methods of a library's objects, by what models of their makers call them."""

    def register(function: Methods) -> Methods:
        _METHODS.update(dict.fromkeys(families, function))
        return function

    return register


def methods_of(owner: Obj) -> Methods | None:
    """Return the methods of a library's object, if a model knows them."""
    if owner.cls is not None:
        return None
    _load()
    return _METHODS.get(owner.family)


def handler(name: str) -> Model | None:
    """Return the model of a function or class, by its dotted name."""
    _load()
    return _MODELS.get(name)


@cache
def _load() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
