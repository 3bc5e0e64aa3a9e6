"""Settings of one run: the table `[tool.samedevice]` of the nearest pyproject.toml, then the flags.

A key of the table is the flag of the same name, so there is one list of settings to learn.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from samedevice import requirements

LISTS = ("select", "ignore", "safe", "unsafe-rule", "exclude")
KEYS = (*LISTS, "unsafe", "resolver", "line-length", "baseline", "batch")
RESOLVER = re.compile(r"cuda|accelerator|[A-Za-z_][\w.]*:[A-Za-z_]\w*")


class ConfigError(Exception):
    """A setting that cannot be used; the message names the file or flag it came from."""


@dataclass(frozen=True)
class Exclude:
    """Patterns in the syntax of .gitignore, read relative to the folder `root`."""

    root: str
    patterns: tuple[str, ...]


@dataclass(frozen=True)
class Config:
    """The settings of one run.

    `select`: only these rules (empty: all of them); `ignore`: without these. `safe` and
    `unsafe_rule` list rules whose fixes count as safe or as unsafe whatever they say themselves;
    `unsafe` applies unsafe fixes too. `resolver` is "cuda", "accelerator", "module:function" or
    "" for the one that suits the project. `line_length` counts characters. `torch_floor` is the
    oldest torch that the project says it works with, (0, 0) when it does not say. `baseline` is
    the file of old findings that `check` leaves out, "" for none.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    safe: tuple[str, ...] = ()
    unsafe_rule: tuple[str, ...] = ()
    unsafe: bool = False
    exclude: tuple[Exclude, ...] = ()
    resolver: str = ""
    line_length: int | None = None
    torch_floor: requirements.Release = requirements.UNKNOWN
    baseline: str = ""

    def with_flags(
        self,
        *,
        select: Sequence[str] = (),
        ignore: Sequence[str] = (),
        safe: Sequence[str] = (),
        unsafe_rule: Sequence[str] = (),
        exclude: Sequence[str] = (),
        unsafe: bool = False,
        resolver: str = "",
        baseline: str | None = None,
    ) -> Config:
        """Return these settings with the flags that were given in place of the table's values.

        `exclude` adds to the table's patterns, relative to the current folder. Raises
        `ConfigError` for a resolver of another form.
        """
        if resolver and not RESOLVER.fullmatch(resolver):
            raise ConfigError(f"--resolver {resolver}: {_RESOLVER_FORMS}")
        return replace(
            self,
            select=tuple(select) or self.select,
            ignore=tuple(ignore) or self.ignore,
            safe=tuple(safe) or self.safe,
            unsafe_rule=tuple(unsafe_rule) or self.unsafe_rule,
            unsafe=unsafe or self.unsafe,
            resolver=resolver or self.resolver,
            baseline=self.baseline if baseline is None else baseline,
            exclude=(*self.exclude, Exclude(os.getcwd(), tuple(exclude)))
            if exclude
            else self.exclude,
        )


_RESOLVER_FORMS = "expected `cuda`, `accelerator` or `module:function`"


def load(
    paths: Sequence[str] = (".",), base: Config | None = None, top: str | None = None
) -> Config:
    """Return the settings that hold for `paths`: those found from their common folder upward.

    `base` are the settings of which the table changes what it names, and `top` is the folder above
    which nothing is looked for.

    The nearest pyproject.toml with a `[tool.samedevice]` table counts. The line length is the
    table's, else the nearest one that ruff or black are given; the oldest torch is the one that
    the nearest folder with requirements asks for. Raises `ConfigError` for a file that is no TOML,
    an unknown key or a value of the wrong type.
    """
    table: dict[str, Any] | None = None
    config = base = base or Config()
    line_length: int | None = None
    torch_floor: requirements.Release | None = None
    folder = _common_folder(paths)
    while True:
        path = os.path.join(folder, "pyproject.toml")
        document = _read_toml(path)
        tool = requirements.table(document, "tool")
        if table is None and "samedevice" in tool:
            table = tool["samedevice"]
            config = _from_table(table, path, base)
        if line_length is None:
            line_length = _line_length(tool)
        if torch_floor is None:
            torch_floor = requirements.torch_floor(folder, document)
        parent = os.path.dirname(folder)
        if parent == folder or (top is not None and os.path.samefile(folder, top)):
            break
        folder = parent
    return replace(
        config,
        line_length=config.line_length or line_length,
        torch_floor=torch_floor or requirements.UNKNOWN,
    )


def _common_folder(paths: Sequence[str]) -> str:
    folders = [
        absolute if os.path.isdir(absolute) else os.path.dirname(absolute)
        for absolute in (os.path.abspath(path) for path in paths if path != "-")
    ]
    try:
        return os.path.commonpath(folders) if folders else os.getcwd()
    except ValueError:  # two drives of Windows have no folder in common
        return os.getcwd()


def _read_toml(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        document: dict[str, Any] = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        if b"tool.samedevice" in data:
            raise ConfigError(f"{path}: not a TOML file: {error}") from None
        return {}  # somebody else's, such as a template's
    return document


def _line_length(tool: Mapping[str, Any]) -> int | None:
    for name in ("ruff", "black"):
        length = requirements.table(tool, name).get("line-length")
        if type(length) is int:
            return int(length)
    return None


def _from_table(table: Any, path: str, base: Config) -> Config:
    def fail(key: str, expected: str) -> ConfigError:
        return ConfigError(f"{path}: [tool.samedevice] {key}: {expected}")

    if not isinstance(table, dict):
        raise ConfigError(f"{path}: [tool.samedevice]: expected a table")
    for key, value in table.items():
        if key not in KEYS:
            raise fail(key, f"no such setting; there are {', '.join(sorted(KEYS))}")
        if key in LISTS and not (
            isinstance(value, list) and all(isinstance(item, str) for item in value)
        ):
            raise fail(key, "expected a list of strings")
    unsafe = table.get("unsafe", base.unsafe)
    if not isinstance(unsafe, bool):
        raise fail("unsafe", "expected true or false")
    resolver = table.get("resolver", base.resolver)
    if resolver != "" and not (isinstance(resolver, str) and RESOLVER.fullmatch(resolver)):
        raise fail("resolver", _RESOLVER_FORMS)
    length = table.get("line-length", base.line_length)
    if length is not None and (type(length) is not int or length < 1):
        raise fail("line-length", "expected a number of characters")
    baseline = table.get("baseline", "")
    if not isinstance(baseline, str):
        raise fail("baseline", "expected the name of a file")
    if not isinstance(table.get("batch", {}), dict):
        raise fail("batch", "expected a table")
    patterns = tuple(table.get("exclude", ()))
    exclude = Exclude(os.path.dirname(path), patterns)
    return Config(
        select=tuple(table.get("select", base.select)),
        ignore=tuple(table.get("ignore", base.ignore)),
        safe=tuple(table.get("safe", base.safe)),
        unsafe_rule=tuple(table.get("unsafe-rule", base.unsafe_rule)),
        unsafe=unsafe,
        exclude=(*base.exclude, exclude) if patterns else base.exclude,
        resolver=resolver,
        line_length=length,
        baseline=os.path.join(os.path.dirname(path), baseline) if baseline else "",
    )
