"""The templates of this room, and the words that they share."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from ..report.shell import visible


def template(name: str) -> Template:
    """Return a template: it escapes what it is given, and writes out what is not seen.

    Raises `jinja2.TemplateNotFound` when there is none of this name.
    """
    return _environment().get_template(f"{name}.jinja")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("samedevice.map", "."), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, finalize=_seen,
    )  # fmt: skip
    environment.filters["count"] = count
    return environment


def _seen(said: Any) -> Any:
    return visible(said) if type(said) is str else said  # what is marked as HTML stays as it is


def count(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
