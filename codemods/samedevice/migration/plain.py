"""Dataclasses, tables and sets to lists for JSON and back, by their annotations.

What comes back is checked: a text where a number belongs raises `ValueError`, and nothing but the
classes that are asked for is ever made.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def dump(value: Any) -> Any:
    """Return a value of dataclasses, tuples, tables and texts as lists, numbers and texts."""
    if isinstance(value, (tuple, list)):
        return [dump(item) for item in value]
    if isinstance(value, Mapping):
        return [[dump(key), dump(item)] for key, item in value.items()]
    if isinstance(value, (frozenset, set)):
        return [dump(item) for item in sorted(value)]
    if is_dataclass(value):
        return [dump(getattr(value, name)) for name in _names(value.__class__)]
    return value


def load(kind: type[T], data: Any) -> T:
    """Return what `dump` was given; raises `ValueError` when that was no `kind`."""
    wanted: Any = kind
    made: T = _loader(wanted)(data)
    return made


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@cache
def _loader(kind: Any) -> Callable[[Any], Any]:
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return _instance(kind, [_loader(hints[field.name]) for field in fields(kind)])
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return _one_of(arguments)
    if origin in (dict, Mapping):
        pairs = _many(_members([_loader(argument) for argument in arguments]))
        return lambda data: dict(pairs(data))
    if origin is frozenset:
        members = _many(_loader(arguments[0]))
        return lambda data: frozenset(members(data))
    if origin is tuple and arguments[-1] is ...:
        return _many(_loader(arguments[0]))
    if origin is tuple:
        return _members([_loader(argument) for argument in arguments])
    if origin in (Union, types.UnionType):
        (other,) = (argument for argument in arguments if argument is not type(None))
        return _optional(_loader(other))
    if kind in (str, int, bool, float):
        return _exactly(kind)
    raise TypeError(f"{kind} cannot be stored")


def _instance(kind: Any, loaders: list[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    members = _members(loaders)
    return lambda data: kind(*members(data))


def _members(loaders: list[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def load(data: Any) -> Any:
        if data.__class__ is not list or len(data) != len(loaders):
            raise ValueError(data)
        return tuple([loader(item) for loader, item in zip(loaders, data, strict=True)])

    return load


def _many(loader: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def load(data: Any) -> Any:
        if data.__class__ is not list:
            raise ValueError(data)
        return tuple([loader(item) for item in data])

    return load


def _optional(loader: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda data: None if data is None else loader(data)


def _one_of(words: tuple[Any, ...]) -> Callable[[Any], Any]:
    return lambda data: _same(data, data in words)


def _exactly(kind: type) -> Callable[[Any], Any]:
    return lambda data: _same(data, data.__class__ is kind)


def _same(data: Any, right: bool) -> Any:
    if not right:
        raise ValueError(data)
    return data
