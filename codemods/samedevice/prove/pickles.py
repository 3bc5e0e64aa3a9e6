"""What a pickle holds, without what it would import: an inert class stands for every other.

Two checkpoints of one model remember other devices, which makes their pickles other bytes. Their
structure is compared instead. No code of the pickle's is ever found, imported or called.
"""

from __future__ import annotations

import io
import pickle
import re
from typing import Any

from samedevice.prove.alike import near

_DEVICE = re.compile(r"(?:cpu|cuda|mps|xpu|hpu|npu)(?::\d+)?")
_MOST_OBJECTS = 2_000_000


class _Inert:
    """Stands for any class and function: keeps what it was given."""

    def __new__(cls, *args: Any, **named: Any) -> _Inert:
        self = object.__new__(cls)
        self.__dict__["held"] = [args, named]
        return self

    def __init__(self, *args: Any, **named: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        self.__dict__["held"].append(state)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.__dict__["held"].append((key, value))

    def append(self, value: Any) -> None:
        """Take an item, as a list would."""
        self.__dict__["held"].append(value)

    def extend(self, values: Any) -> None:
        """Take items, as a list would."""
        self.__dict__["held"].extend(values)


class _Reader(pickle.Unpickler):
    def __init__(self, content: bytes) -> None:
        super().__init__(io.BytesIO(content))
        self._classes: dict[str, type[_Inert]] = {}
        self.storages: dict[str, str] = {}

    def find_class(self, module: str, name: str) -> Any:
        full = f"{module}.{name}"
        if full not in self._classes:
            self._classes[full] = type(full, (_Inert,), {})
        return self._classes[full]

    def persistent_load(self, pid: Any) -> Any:
        if isinstance(pid, tuple) and len(pid) > 2 and isinstance(pid[1], type):
            self.storages[str(pid[2])] = pid[1].__name__
        return "persistent", pid


def storages(content: bytes) -> dict[str, str]:
    """Return the class of every storage that a checkpoint's pickle speaks of, by its key."""
    reader = _Reader(content)
    try:
        reader.load()
    except Exception:  # noqa: BLE001  # whatever a broken or hostile pickle raises
        return {}
    return reader.storages


def same(one: bytes, two: bytes, tolerance: float) -> bool:
    """Tell whether two pickles hold the same, devices and small differences of numbers aside."""
    try:
        return _Comparison(tolerance).same(_Reader(one).load(), _Reader(two).load())
    except Exception:  # noqa: BLE001  # as above
        return False


class _Comparison:
    def __init__(self, tolerance: float) -> None:
        self._tolerance = tolerance
        self._seen: set[tuple[int, int]] = set()

    def same(self, one: Any, two: Any) -> bool:
        if isinstance(one, type) and isinstance(two, type):
            return one.__name__ == two.__name__
        if type(one).__name__ != type(two).__name__:
            return False
        if isinstance(one, str):
            return bool(one == two or (_DEVICE.fullmatch(one) and _DEVICE.fullmatch(two)))
        if isinstance(one, float):
            return one == two or near(one, two, self._tolerance) or (one != one and two != two)
        if isinstance(one, (list, tuple, dict, set, frozenset, _Inert)):
            pair = id(one), id(two)
            if pair in self._seen:
                return True
            self._seen.add(pair)
            if len(self._seen) > _MOST_OBJECTS:
                return False
            return self._same_parts(one, two)
        return bool(one == two)

    def _same_parts(self, one: Any, two: Any) -> bool:
        if isinstance(one, _Inert):
            one, two = one.__dict__["held"], two.__dict__["held"]
        elif isinstance(one, dict):
            one, two = list(one.items()), list(two.items())
        elif isinstance(one, (set, frozenset)):
            one, two = sorted(one, key=repr), sorted(two, key=repr)
        return len(one) == len(two) and all(
            self.same(left, right) for left, right in zip(one, two, strict=True)
        )
