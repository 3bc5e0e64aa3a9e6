"""What rewritten programs tell, in the process that runs them. Needs torch."""

from __future__ import annotations

import builtins
import json
import multiprocessing.util
import os
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from .instrument import ENTER, HERE, SEE, Table

#: Evaluations of one expression that are all looked at; then one of `_EVERY` is.
_ALL, _EVERY = 400, 61
#: The same of a module, whose parameters have to be looked at.
_ALL_OF_MODULES = 40
#: How many elements of a container are looked at, and how deep.
_ELEMENTS, _DEPTH = 8, 2

_NAMED = re.compile(r"(cpu|cuda)(:\d+)?")
_PLAIN = frozenset((bool, int, float, complex, str, bytes, type(None), type, type(len)))
_DISABLED = torch._C.DisableTorchFunctionSubclass

#: What the place of a value was told about the arguments of its function: they were there too, they
#: were all elsewhere, or none of them had a place.
WITH, WITHOUT, ALONE = "with", "without", "alone"


class Recorder:
    """Counts, for each expression, the places where its value was."""

    def __init__(self, table: Table, report: Path) -> None:
        self.table = table
        self._report = report
        self._owner = os.getpid()
        self._seen: dict[int, dict[tuple[str, str, str], int]] = defaultdict(dict)
        self._times: dict[int, int] = defaultdict(int)
        self._busy = False

    def install(self) -> None:
        """Give rewritten programs their names."""
        vars(builtins).update({SEE: self.see, ENTER: self.enter, HERE: frozenset()})
        multiprocessing.util.register_after_fork(self, Recorder._forked)

    def see(self, number: int, value: Any, here: frozenset[str]) -> Any:
        """Look at the value of an expression and hand it back."""
        kind = type(value)
        if self._busy:
            return value
        if kind in _PLAIN:
            if number not in self._seen:
                self._seen[number]["other", "", ALONE] = 1
            return value
        times = self._times[number] = self._times[number] + 1
        is_tensor = issubclass(kind, torch.Tensor)
        if times > (_ALL if is_tensor else _ALL_OF_MODULES) and times % _EVERY:
            return value
        self._busy = True
        try:
            if is_tensor:
                what, place = "tensor", _device(value)
            elif issubclass(kind, torch.nn.Module):
                places = _of_module(value)
                what, place = "module", next(iter(places)) if len(places) == 1 else ""
                if not place:
                    what = "mixed" if places else "other"
            elif kind is torch.device:
                what, place = "device", str(value)
            else:
                what, place = "other", ""
            how = ALONE if not here or not place else WITH if place in here else WITHOUT
            counts = self._seen[number]
            counts[what, place, how] = counts.get((what, place, how), 0) + 1
        except Exception:  # a value that cannot be asked
            pass
        finally:
            self._busy = False
        return value

    def enter(self, handed: tuple[Any, ...]) -> frozenset[str]:
        """Return the places of a function's arguments and of what they hold."""
        if self._busy:
            return frozenset()
        self._busy = True
        try:
            return frozenset(_places(handed, _DEPTH + 1))
        except Exception:
            return frozenset()
        finally:
            self._busy = False

    def write(self) -> None:
        """Write down what was seen."""
        path = self._report
        if os.getpid() != self._owner:
            path = path.with_name(f"{path.name}.{os.getpid()}")
        seen = [
            (*self.table.keys[number], [(*what, count) for what, count in counts.items()])
            for number, counts in list(self._seen.items())
        ]
        files = sorted({path for path, _ in self.table.keys})
        path.write_text(json.dumps({"files": files, "seen": seen}), "utf-8")

    def _forked(self) -> None:
        """In a worker: begin anew, and write at its end."""
        self._seen.clear()
        multiprocessing.util.Finalize(None, self.write, exitpriority=100)


def _told(device: torch.device) -> str:
    """Return where a tensor is that is told to be on a device."""
    return f"{device.type}:0" if device.index is None and device.type != "cpu" else str(device)


def _device(tensor: torch.Tensor) -> str:
    with _DISABLED():
        return str(tensor.device)


def _of_module(module: torch.nn.Module) -> set[str]:
    """Return where a module's parameters and buffers are."""
    places: set[str] = set()
    waiting, done = [module], set()
    while waiting and len(places) < 2:
        one = waiting.pop()
        if one is None or id(one) in done:
            continue
        done.add(id(one))
        held = vars(one)
        for tensors in (held.get("_parameters", {}), held.get("_buffers", {})):
            places.update(_device(tensor) for tensor in tensors.values() if tensor is not None)
        waiting.extend(held.get("_modules", {}).values())
    return places


def _places(values: Iterable[Any], depth: int) -> set[str]:
    found: set[str] = set()
    for _, value in zip(range(_ELEMENTS), values, strict=False):
        kind = type(value)
        if kind is str and _NAMED.fullmatch(value):
            found.add(_told(torch.device(value)))
        if kind in _PLAIN:
            continue
        if issubclass(kind, torch.Tensor):
            found.add(_device(value))
        elif issubclass(kind, torch.nn.Module):
            found |= _of_module(value)
        elif kind is torch.device:
            found.add(_told(value))
        elif depth and issubclass(kind, (list, tuple, set, frozenset)):
            found |= _places(value, depth - 1)
        elif depth and issubclass(kind, dict):
            found |= _places(value.values(), depth - 1)
        elif depth and hasattr(value, "__dict__"):
            found |= _places(vars(value).values(), depth - 1)
    return found
