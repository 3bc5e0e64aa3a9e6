"""Settings that a program parses from a text of its own: JSON, YAML, TOML, literals of Python.

Only what speaks of devices becomes known. Users edit the rest, so both arms of its tests count.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from samedevice.inference import choices
from samedevice.inference.models import Call, model
from samedevice.inference.values import DEVICE, UNKNOWN, CliOption, Const, Dict, Seq, Value

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: Longer texts are data.
_LONGEST = 20_000
_LINE = re.compile(r"( *)([\w.-]+) *:(?: +(.*))?")


@model("json.loads")
def of_json(run: Interpreter, call: Call) -> Value:
    """Settings in JSON."""
    return _parsed(call, json.loads)


@model("ast.literal_eval")
def of_python(run: Interpreter, call: Call) -> Value:
    """Settings as a literal of Python."""
    return _parsed(call, lambda text: ast.literal_eval(text.strip()))


@model("tomllib.loads", "tomli.loads", "toml.loads")
def of_toml(run: Interpreter, call: Call) -> Value:
    """Settings in TOML, which Python 3.10 does not read."""
    return _parsed(call, lambda text: importlib.import_module("tomllib").loads(text))


@model("yaml.safe_load", "yaml.load", "yaml.full_load", "yaml.unsafe_load")
def of_yaml(run: Interpreter, call: Call) -> Value:
    """Settings in YAML, as far as they are lines of names and values."""
    return _parsed(call, _yaml)


def _parsed(call: Call, read: Callable[[str], Any]) -> Value:
    """Return what a text says of devices."""
    given = call.args[0][0] if call.args else None
    if type(given) is not Const or not isinstance(given.value, str):
        return UNKNOWN
    if len(given.value) > _LONGEST or not choices.speaks(given.value):
        return UNKNOWN
    try:
        return _value(read(given.value), "")
    except (ValueError, SyntaxError, RecursionError, MemoryError, ImportError):
        return UNKNOWN


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


def _value(value: Any, key: str) -> Value:
    """Return what is known of a part of some settings."""
    if isinstance(value, dict):
        return Dict({k: _value(v, str(k)) for k, v in value.items()}, UNKNOWN)
    if isinstance(value, list):
        return Seq("list", [_value(each, key) for each in value])
    if isinstance(value, str) and DEVICE.fullmatch(value):
        return Const(value)
    if isinstance(value, (bool, int)) and choices.speaks(key):
        return CliOption(value)
    return UNKNOWN
