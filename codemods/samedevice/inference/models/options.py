"""Settings: command lines and namespaces."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from samedevice.inference.models import Call, model
from samedevice.inference.objects import Attributes, Instance
from samedevice.inference.values import (
    NONE,
    SCALAR,
    UNKNOWN,
    Arg,
    CliOption,
    Const,
    DeviceTest,
    ProcessIndex,
    Seq,
    Value,
)

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: The words of a switch for the accelerator: `--no-cuda`, `--use_gpu`, `--disable-cuda`.
_ACCELERATOR = frozenset(("cuda", "gpu", "gpus", "accel", "accelerator"))
_CHOOSING = frozenset(
    ("use", "using", "no", "not", "with", "without", "disable", "enable", "force", "allow", "try")
    + ("on", "if", "is", "available", "device", "want", "run")
)  # fmt: skip
#: What a parser is asked for to add options to, which become its own.
_PARTS = frozenset(
    ("add_argument_group", "add_mutually_exclusive_group", "add_parser", "add_subparsers")
)


@model("types.SimpleNamespace", "argparse.Namespace")
def settings(run: Interpreter, call: Call) -> Value:
    """Settings by name."""
    made = Instance("namespace")
    for name, (value, where) in call.kwargs.items():
        made.attrs[name] = value
        run.stored_literals.add(where.node)
    return made


@model("argparse.ArgumentParser")
def parser(run: Interpreter, call: Call) -> Value:
    """A command line's options become attributes."""
    return Instance("parser", "argparse")


def parser_method(owner: Instance, name: str, call: Call) -> Value:
    """`add_argument`, `set_defaults` and `parse_args`."""
    if name == "add_argument":
        _add(owner, call)
    elif name == "set_defaults":
        for destination, given in call.kwargs.items():
            owner.kwargs[destination] = given[0]
            known = owner.attrs.get(destination)
            if not isinstance(known, (DeviceTest, ProcessIndex)):
                owner.attrs[destination] = _unless_given(given[0])
    elif name in ("parse_args", "parse_known_args"):
        made = Instance("namespace")
        made.attrs = Attributes(owner.attrs)
        return Seq("tuple", [made, UNKNOWN]) if name == "parse_known_args" else made
    elif name in _PARTS:
        return owner
    return NONE


def _add(owner: Instance, call: Call) -> None:
    """Add an option, by what the command line makes of it."""
    names = [v.value for v, _ in call.args if isinstance(v, Const) and isinstance(v.value, str)]
    long = [n for n in names if n.startswith("--")] or names
    if not long:
        return
    destination = long[0].lstrip("-").replace("-", "_")
    given = call.kwargs.get("dest")
    if given is not None and isinstance(given[0], Const):
        destination = str(given[0].value)
    action = call.kwargs.get("action")
    default = call.kwargs.get("default")
    value: Value = SCALAR
    switch = action is not None or (
        default is not None
        and isinstance(default[0], Const)
        and (
            isinstance(default[0].value, bool)
            or default[0].value in (0, 1)
            and re.fullmatch(r"(use_)?cuda|use_gpu", destination) is not None
        )
    )
    if destination == "local_rank":  # what torch.distributed.launch passes
        value = ProcessIndex(absent=negative(default))
    elif switch and _chooses(destination):
        positive = not re.match(r"no_|disable|without", destination)
        value = DeviceTest(positive, asks=False, choice=True)
    elif switch and destination in ("cpu", "use_cpu", "cpu_only"):
        value = DeviceTest(False, asks=False, choice=True)
    elif action is None:
        held = default[0] if default is not None else owner.kwargs.get(destination, NONE)
        value = _unless_given(held)
    owner.attrs[destination] = value


def _unless_given(default: Value) -> Value:
    """Return what an option is whose default is known: the user may say otherwise."""
    if isinstance(default, Const):
        return CliOption(default.value, default.spot)
    if isinstance(default, DeviceTest):
        return DeviceTest(default.positive, asks=default.asks, choice=True)
    return default


def _chooses(destination: str) -> bool:
    """Tell whether a switch is for the accelerator, and not for something else about GPUs."""
    words = set(destination.lower().split("_"))
    return bool(words & _ACCELERATOR) and words <= _ACCELERATOR | _CHOOSING


def negative(default: Arg | None) -> bool:
    """Tell whether an option is a negative number where nobody gives it."""
    if default is None or not isinstance(default[0], Const):
        return False
    return isinstance(default[0].value, int) and default[0].value < 0
