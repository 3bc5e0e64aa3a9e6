"""Settings that a program parses: JSON, YAML, TOML, INI, literals of Python.

They are a text of its own, or a file of the project that its code names. Only what speaks of
devices becomes known. Users edit the rest, so both arms of its tests count.
"""

from __future__ import annotations

import ast
import configparser
import importlib
import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from samedevice.inference.models import Call, methods, model
from samedevice.inference.objects import Instance
from samedevice.inference.values import (
    DEVICE,
    NONE,
    UNKNOWN,
    CliOption,
    Const,
    Dict,
    Seq,
    Setting,
    Value,
)
from samedevice.reading.settings import LONGEST, SettingsFile
from samedevice.reading.wording import speaks_of_devices

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

_LINE = re.compile(r"( *)([\w.-]+) *:(?: +(.*))?")
_WRONG = (ValueError, SyntaxError, RecursionError, MemoryError, ImportError, configparser.Error)


@model("json.loads", "json.load")
def of_json(run: Interpreter, call: Call) -> Value:
    """Settings in JSON."""
    return _parsed(run, call, "json")


@model("ast.literal_eval")
def of_python(run: Interpreter, call: Call) -> Value:
    """Settings as a literal of Python."""
    return _parsed(run, call, "py")


@model("tomllib.loads", "tomli.loads", "toml.loads", "tomllib.load", "tomli.load", "toml.load")
def of_toml(run: Interpreter, call: Call) -> Value:
    """Settings in TOML, which Python 3.10 does not read."""
    return _parsed(run, call, "toml")


@model("yaml.safe_load", "yaml.load", "yaml.full_load", "yaml.unsafe_load")
def of_yaml(run: Interpreter, call: Call) -> Value:
    """Settings in YAML, as far as they are lines of names and values."""
    return _parsed(run, call, "yaml")


@model("omegaconf.OmegaConf.load")
def of_omegaconf(run: Interpreter, call: Call) -> Value:
    """Settings in YAML, whose entries are attributes."""
    return _as_attributes(_of_files(run, call, "yaml"))


def _as_attributes(value: Value) -> Value:
    if not isinstance(value, Dict) or not value.items:
        return value
    made = Instance("namespace")
    made.attrs.update({str(key): _as_attributes(held) for key, held in value.items.items()})
    return made


@model("configparser.ConfigParser", "configparser.RawConfigParser")
def of_ini(run: Interpreter, call: Call) -> Value:
    """Settings in sections, which it reads from files."""
    return Instance("configparser")


@methods("configparser")
def of_ini_method(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    """Read files, and ask for a section or a setting."""
    if name in ("read", "read_file"):
        owner.attrs["sections"] = _of_files(run, call, "ini")
        return NONE
    if name == "read_string":
        owner.attrs["sections"] = _parsed(run, call, "ini")
        return NONE
    found = owner.attrs.get("sections", UNKNOWN)
    keys = [value.value for value, _ in call.args[:2] if isinstance(value, Const)]
    if name not in ("get", "getint", "getboolean", "__getitem__"):
        return UNKNOWN
    for key in keys:
        found = found.items.get(key, UNKNOWN) if isinstance(found, Dict) else UNKNOWN
    fallback = call.kwargs.get("fallback")
    return fallback[0] if found is UNKNOWN and fallback is not None else found


def _parsed(run: Interpreter, call: Call, kind: str) -> Value:
    """Return what a text says of devices, or the files that it may come from."""
    given = call.args[0][0] if call.args else None
    if type(given) is not Const or not isinstance(given.value, str):
        return _of_files(run, call, kind)
    return _read(given.value, kind, None)


def _of_files(run: Interpreter, call: Call, kind: str) -> Value:
    """Return what the files of settings say that the program names, as far as they agree.

    Which of them is read here is not followed.
    """
    program = run.project.programs.get(call.scope.path, frozenset((call.scope.path,)))
    files = [each for each in run.project.settings.of(program) if each.kind == kind]
    found: Value | None = None
    for each in files:
        found = run.join(found, _read(each.text, kind, each))
    return found if found is not None else UNKNOWN


def _read(text: str, kind: str, file: SettingsFile | None) -> Value:
    if len(text) > LONGEST or not speaks_of_devices(text):
        return UNKNOWN
    try:
        return _value(_READERS[kind](text), "", file)
    except _WRONG:
        return UNKNOWN


def _toml(text: str) -> Any:
    return importlib.import_module("tomllib").loads(text)


def _ini(text: str) -> Any:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    return {name: {k: _plain(v) for k, v in parser[name].items()} for name in parser}


def _yaml(text: str) -> dict[str, Any]:
    """Read settings in lines, `key: value`; what else YAML has is not known."""
    whole: dict[str, Any] = {}
    levels = [(-1, whole)]
    for line in text.splitlines():
        match = _LINE.fullmatch(line.split(" #")[0].rstrip())
        if match is None:
            continue
        depth, key, value = len(match[1]), match[2], match[3]
        while levels[-1][0] >= depth:
            levels.pop()
        if value:
            levels[-1][1][key] = _plain(value.strip())
        else:
            inner: dict[str, Any] = {}
            levels[-1][1][key] = inner
            levels.append((depth, inner))
    return whole


def _plain(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if text.lstrip("-").isdecimal():
        return int(text)
    return text.strip("'\"")


#: What reads each kind of settings.
_READERS: dict[str, Callable[[str], Any]] = {
    "json": json.loads,
    "toml": _toml,
    "yaml": _yaml,
    "ini": _ini,
    "py": lambda text: ast.literal_eval(text.strip()),
}


def _value(value: Any, key: str, file: SettingsFile | None) -> Value:
    """Return what is known of a part of some settings."""
    if isinstance(value, dict):
        return Dict({k: _value(v, str(k), file) for k, v in value.items()}, UNKNOWN)
    if isinstance(value, list):
        return Seq("list", [_value(each, key, file) for each in value])
    if isinstance(value, str) and DEVICE.fullmatch(value):
        return _said(value, key, file)
    if isinstance(value, (bool, int)) and speaks_of_devices(key):
        return CliOption(value)
    return UNKNOWN


def _said(value: str, key: str, file: SettingsFile | None) -> Const:
    if file is None:
        return Const(value)
    line = file.line(key, value)
    return Setting(value, f"{file.path}:{line}" if line else file.path)
