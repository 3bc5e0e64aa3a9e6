"""Settings of one run: the table `[tool.samedevice]` of the nearest pyproject.toml, then the flags.

A key of the table is the flag of the same name, so there is one list of settings to learn.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from samedevice.finding import RENAMED, current_rule
from samedevice.reading import requirements
from samedevice.reading.patterns import Matching

LISTS = ("select", "extend-select", "ignore", "safe", "unsafe-rule", "exclude", "convert")
#: Those of them that name files.
_OF_FILES = ("exclude", "convert")
KEYS = (
    *LISTS, "per-file-ignores", "unsafe", "resolver", "line-length", "baseline", "docs-url",
    "extend", "batch",
)  # fmt: skip
_URL = re.compile(r"https?://[!-~]+")
RESOLVER = re.compile(r"cuda|accelerator|xla|[A-Za-z_][\w.]*:[A-Za-z_]\w*")


class ConfigError(Exception):
    """A setting that cannot be used; the message names the file or flag it came from."""


@dataclass(frozen=True)
class PerFile:
    """Rules that are off in the files that `pattern` names, read relative to the folder `root`."""

    root: str
    pattern: str
    rules: tuple[str, ...]


@dataclass(frozen=True)
class Config:
    """The settings of one run.

    `select`: only these rules (empty: all of them); `extend_select`: these, too; `ignore`: without
    these; `per_file_ignores`: without some in some files. `safe` and
    `unsafe_rule` list rules whose fixes count as safe or as unsafe whatever they say themselves;
    `unsafe` applies unsafe fixes too. `resolver` is "cuda", "accelerator", "xla", "module:function"
    or "" for the one that suits the project. `line_length` counts characters. `torch_floor` is the
    oldest torch that the project says it works with, (0, 0) when it does not say. `baseline` is
    the file of old findings that `check` leaves out, "" for none. `docs_url` is where the site of
    the documentation is served, "" where that is not said. `decided_by_run`: a run will show what
    is undecided, and no conversion waits for it. `convert` says which scripts are converted
    whatever they are for. `files` are those that the settings were read from, the nearest first;
    `named_in` says of each rule that they and the flags name where.
    """

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    safe: tuple[str, ...] = ()
    unsafe_rule: tuple[str, ...] = ()
    unsafe: bool = False
    exclude: tuple[Matching, ...] = ()
    resolver: str = ""
    line_length: int | None = None
    torch_floor: requirements.Release = requirements.UNKNOWN
    baseline: str = ""
    docs_url: str = ""
    per_file_ignores: tuple[PerFile, ...] = ()
    decided_by_run: bool = False
    convert: tuple[Matching, ...] = ()
    files: tuple[str, ...] = field(default=(), compare=False, repr=False)
    named_in: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)

    @property
    def asks(self) -> tuple[str, requirements.Release, tuple[Matching, ...]]:
        """What is asked of a project (`Project.asks`)."""
        return self.resolver, self.torch_floor, self.convert

    @property
    def old_names(self) -> list[str]:
        """What to tell of rules that the settings name as they were called before."""
        return [
            f"{where}: {rule} is called {current_rule(rule)} now"
            for rule, where in self.named_in
            if rule in RENAMED
        ]

    def with_flags(
        self,
        *,
        select: Sequence[str] = (),
        extend_select: Sequence[str] = (),
        ignore: Sequence[str] = (),
        safe: Sequence[str] = (),
        unsafe_rule: Sequence[str] = (),
        exclude: Sequence[str] = (),
        unsafe: bool = False,
        resolver: str = "",
        baseline: str | None = None,
        convert: Sequence[str] = (),
    ) -> Config:
        """Return these settings with the flags that were given in place of the table's values.

        `exclude` and `convert` add to the table's patterns, relative to the current folder, and
        `extend_select` to its rules, also where the table ignores one. Raises `ConfigError` for a
        resolver of another form.
        """
        if resolver and not RESOLVER.fullmatch(resolver):
            raise ConfigError(f"--resolver {resolver}: {_RESOLVER_FORMS}")
        given = [("--select", select), ("--extend-select", extend_select), ("--ignore", ignore)]
        given += [("--safe", safe), ("--unsafe-rule", unsafe_rule)]
        added = _current(extend_select)
        return replace(
            self,
            select=_current(select) or self.select,
            extend_select=(*self.extend_select, *added),
            ignore=_current(ignore) or tuple(name for name in self.ignore if name not in added),
            safe=_current(safe) or self.safe,
            unsafe_rule=_current(unsafe_rule) or self.unsafe_rule,
            named_in=(*((rule, flag) for flag, rules in given for rule in rules), *self.named_in),
            unsafe=unsafe or self.unsafe,
            resolver=resolver or self.resolver,
            baseline=self.baseline if baseline is None else baseline,
            exclude=_added(self.exclude, os.getcwd(), exclude),
            convert=_added(self.convert, os.getcwd(), convert),
        )


def _added(
    known: tuple[Matching, ...], folder: str, patterns: Sequence[str]
) -> tuple[Matching, ...]:
    return (*known, Matching(folder, tuple(patterns))) if patterns else known


def _current(rules: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(current_rule, rules))


_RESOLVER_FORMS = "expected `cuda`, `accelerator`, `xla` or `module:function`"


def load(
    paths: Sequence[str] = (".",),
    base: Config | None = None,
    top: str | None = None,
    file: str = "",
    isolated: bool = False,
) -> Config:
    """Return the settings that hold for `paths`: those found from their common folder upward.

    `base` are the settings of which the table changes what it names, and `top` is the folder above
    which nothing is looked for. `file` is read instead of looking for a table, and `isolated`
    reads none.

    The nearest pyproject.toml with a `[tool.samedevice]` table counts, on top of the file that its
    `extend` names. The line length is the table's, else the nearest one that ruff or black are
    given; the oldest torch is the one that the nearest folder with requirements asks for. Raises
    `ConfigError` for a file that is no TOML, an unknown key or a value of the wrong type.
    """
    table: Any = None
    config = base = base or Config()
    if file:
        config = _of_file(file, base)
    looking = not (file or isolated)
    line_length: int | None = None
    torch_floor: requirements.Release | None = None
    folder = _common_folder(paths)
    while True:
        path = os.path.join(folder, "pyproject.toml")
        document = _read_toml(path)
        tool = requirements.table(document, "tool")
        if looking and table is None and "samedevice" in tool:
            table = tool["samedevice"]
            config = _extended(table, path, base, top)
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


def _of_file(path: str, base: Config, top: str | None = None, seen: tuple[str, ...] = ()) -> Config:
    """Return the settings in a file: its table, or all of it where it is no pyproject.toml."""
    if not os.path.isfile(path):
        raise ConfigError(f"{path}: there is no such file")
    document = _read_toml(path, ours=True)
    tool = requirements.table(document, "tool")
    if "samedevice" in tool:
        return _extended(tool["samedevice"], path, base, top, seen)
    if os.path.basename(path) == "pyproject.toml":
        raise ConfigError(f"{path}: there is no table [tool.samedevice] in it")
    return _extended(document, path, base, top, seen)


def _extended(
    table: Any, path: str, base: Config, top: str | None, seen: tuple[str, ...] = ()
) -> Config:
    """Return the settings of a table on top of those of the file that it extends, if any."""
    other = table.get("extend") if isinstance(table, dict) else None
    if other is not None:
        if not isinstance(other, str):
            raise ConfigError(f"{path}: [tool.samedevice] extend: expected the name of a file")
        there = os.path.normpath(os.path.join(os.path.dirname(path), os.path.expanduser(other)))
        if there in (*seen, path):
            raise ConfigError(f"{path}: [tool.samedevice] extend: {there} extends itself")
        if top is not None and not _is_inside(there, top):
            raise ConfigError(f"{path}: [tool.samedevice] extend: {there} is not of the project")
        base = _of_file(there, base, top, (*seen, path))
    return _from_table(table, path, base)


def _is_inside(path: str, folder: str) -> bool:
    real, root = os.path.realpath(path), os.path.realpath(folder)
    return os.path.commonpath([real, root]) == root


def _common_folder(paths: Sequence[str]) -> str:
    folders = [
        absolute if os.path.isdir(absolute) else os.path.dirname(absolute)
        for absolute in (os.path.abspath(path) for path in paths if path != "-")
    ]
    try:
        return os.path.commonpath(folders) if folders else os.getcwd()
    except ValueError:  # two drives of Windows have no folder in common
        return os.getcwd()


_DOTS = 1_000  # in one line; a key of many parts takes their square in time


def _read_toml(path: str, ours: bool = False) -> dict[str, Any]:
    """Return a document; one that is no TOML is somebody else's, unless it has the table."""
    try:
        data = requirements.contents(path)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        if any(line.count(b".") > _DOTS for line in data.split(b"\n")):
            raise ValueError(f"a line with more than {_DOTS:,} dots")
        document: dict[str, Any] = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:  # also numbers of many digits
        if ours or b"tool.samedevice" in data:
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
            close = difflib.get_close_matches(key, KEYS, n=1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(sorted(KEYS))}"
            raise fail(key, f"no such setting; {hint}")
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
    docs_url = table.get("docs-url", base.docs_url)
    if docs_url != "" and not (isinstance(docs_url, str) and _URL.fullmatch(docs_url)):
        raise fail("docs-url", "expected an address that begins with https:// or http://")
    if not isinstance(table.get("batch", {}), dict):
        raise fail("batch", "expected a table")
    per_file = table.get("per-file-ignores", {})
    if not isinstance(per_file, dict) or not all(
        isinstance(listed, list) and all(isinstance(rule, str) for rule in listed)
        for listed in per_file.values()
    ):
        raise fail("per-file-ignores", "expected a table of patterns, each with a list of rules")
    rules = [(rule, key) for key in LISTS if key not in _OF_FILES for rule in table.get(key, ())]
    rules += [(rule, "per-file-ignores") for listed in per_file.values() for rule in listed]
    named_in = tuple((rule, f"{path}: [tool.samedevice] {key}") for rule, key in rules)
    folder = os.path.dirname(os.path.abspath(path))
    ignores = tuple(
        PerFile(folder, pattern, _current(listed)) for pattern, listed in per_file.items()
    )
    return Config(
        select=_current(table.get("select", base.select)),
        extend_select=(*base.extend_select, *_current(table.get("extend-select", ()))),
        ignore=_current(table.get("ignore", base.ignore)),
        safe=_current(table.get("safe", base.safe)),
        unsafe_rule=_current(table.get("unsafe-rule", base.unsafe_rule)),
        unsafe=unsafe,
        exclude=_added(base.exclude, folder, table.get("exclude", ())),
        convert=_added(base.convert, folder, table.get("convert", ())),
        resolver=resolver,
        line_length=length,
        baseline=os.path.join(folder, baseline) if baseline else base.baseline,
        docs_url=docs_url.rstrip("/"),
        per_file_ignores=(*base.per_file_ignores, *ignores),
        files=(path, *base.files),
        named_in=(*named_in, *base.named_in),
    )
