"""Tell torch's C++ side that the accelerator exists, and which of its devices is current.

torch asks two objects: the *device guard* of a device type, which C++ extensions register in a
table that libc10 exports, and the type's *hooks*. Ours are torch's own do-nothing objects (a guard
that pretends, the hooks of a build without the accelerator) with a few virtual methods replaced. In
which slot of the virtual table a method is, is read off the headers that the installed torch ships,
so that another release either works or is refused, and is never guessed at.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

_ROOT = Path(torch.__file__).parent
_INCLUDE = _ROOT / "include"
_TYPES = "torch/headeronly/core/DeviceType.h", "c10/core/DeviceType.h"
_GUARD = "c10/core/impl/DeviceGuardImplInterface.h", "DeviceGuardImplInterface"
_HOOKS_BASE = "ATen/detail/AcceleratorHooksInterface.h", "AcceleratorHooksInterface"

_WORD = ctypes.sizeof(ctypes.c_void_p)
_PREFIX = 2  # words of the Itanium C++ ABI before the first method: offset to top, type information
_SUFFIX = "dylib" if sys.platform == "darwin" else "so"

_kept: list[Any] = []  # what C++ points to may never be freed


class Registration:
    """The accelerator as C++ sees it; `undo` takes it back."""

    def __init__(
        self, device_type: str, current: Callable[[], int], count: Callable[[], int]
    ) -> None:
        """Register `device_type`; `current` and `count` are asked for its devices.

        Raises RuntimeError, before anything is changed, if this torch is none that we understand.
        """
        if sys.platform == "win32":
            raise RuntimeError("the virtual accelerator needs Linux or macOS")
        c10, cpu, python = _library("c10"), _library("torch_cpu"), _library("torch_python")
        number, meta = _device_number(device_type), _device_number("meta")
        table = (ctypes.c_void_p * (max(number, meta) + 1)).in_dll(
            c10, "_ZN3c104impl26device_guard_impl_registryE"
        )
        if table[number]:
            raise RuntimeError(
                f"this torch was built for {device_type}: "
                "the virtual accelerator needs a build for CPUs"
            )
        meta_guard = table[meta]
        if not meta_guard:
            raise RuntimeError("this torch has no device guard for meta tensors")

        slots = _slots([_GUARD])
        # torch replaces a CUDA guard that has no devices by one that pretends
        cuda = _device_number("cuda")
        empty = _Methods(meta_guard, slots)
        empty.replace("deviceCount", ctypes.c_int8, lambda this: 0)
        table[cuda] = empty.object()
        torch._C._ensureCUDADeviceGuardSet()
        guard = _Methods(table[cuda] or meta_guard, slots)
        table[cuda] = None
        guard.replace("type", ctypes.c_int8, lambda this: number)
        # class Device is two bytes: its type, then its index
        guard.replace("getDevice", ctypes.c_uint16, lambda this: number | (current() << 8))
        if device_type != "cuda":  # these insist on CUDA
            guard.point("exchangeDevice", guard["getDevice"])
            guard.point("setDevice", guard["destroyEvent"])
        guard.replace("deviceCount", ctypes.c_int8, lambda this: count())
        for event in ("record", "block", "synchronizeEvent", "synchronizeDevice"):
            guard.point(event, guard["destroyEvent"])  # returns at once, whatever it is given
        guard.point("synchronizeStream", guard["destroyEvent"])
        guard.point("getNewStream", guard["getStream"])  # one is as good as another
        guard.point("queryStream", guard["queryEvent"])

        name = device_type.upper()
        get_hooks = cpu[f"_ZN2at6detail{len(name) + 8}get{name}HooksEv"]
        get_hooks.restype = ctypes.c_void_p
        header = f"ATen/detail/{name}HooksInterface.h", f"{name}HooksInterface"
        self._hooks: int = get_hooks()
        hooks = _Methods(self._hooks, _slots([_HOOKS_BASE, header]))
        hooks.replace(f"has{name}", ctypes.c_bool, lambda this: True)
        hooks.replace("isBuilt", ctypes.c_bool, lambda this: True)
        hooks.replace("isAvailable", ctypes.c_bool, lambda this: True)
        hooks.replace("hasPrimaryContext", ctypes.c_bool, lambda this: True)
        hooks.replace("deviceCount", ctypes.c_int8, lambda this: count())
        hooks.point("init", guard["destroyEvent"])
        # what the host allocates may be called pinned
        allocator = ctypes.cast(c10["_ZN3c1015GetCPUAllocatorEv"], ctypes.c_void_p).value
        hooks.point("getPinnedMemoryAllocator", allocator)
        hooks.replace("getDeviceFromPtr", ctypes.c_uint16, lambda this: number)
        if device_type == "xpu":
            hooks.replace("getGlobalIdxFromDevice", ctypes.c_int32, lambda this: 0)

        self._require = python["_ZN5torch5utils24set_requires_device_initEN3c1010DeviceTypeEb"]
        self._old_hooks = _word(self._hooks)
        self._guards, self._number = table, number
        table[number] = guard.object()
        _write(self._hooks, hooks.table())

    def require_init(self) -> None:
        """Let torch initialize the device again before its next use."""
        self._require(ctypes.c_int8(self._number), ctypes.c_bool(True))

    def undo(self) -> None:
        """Give torch its own objects back. No tensor of the accelerator may be used afterwards."""
        self.require_init()
        self._guards[self._number] = None
        _write(self._hooks, self._old_hooks)


class _Methods:
    """A copy of an object's virtual table, to be changed."""

    def __init__(self, instance: int, slots: Sequence[str]) -> None:
        words = _PREFIX + len(slots)
        start = _word(instance) - _PREFIX * _WORD
        self._slots = slots
        self._words = (ctypes.c_void_p * words)(*(ctypes.c_void_p * words).from_address(start))

    def replace(self, name: str, result: Any, function: Callable[[Any], Any]) -> None:
        callback = ctypes.CFUNCTYPE(result, ctypes.c_void_p)(function)
        _kept.append(callback)
        self.point(name, ctypes.cast(callback, ctypes.c_void_p).value)

    def __getitem__(self, name: str) -> int | None:
        """Return the address of a method's code."""
        return self._words[self._slot(name)]

    def point(self, name: str, address: int | None) -> None:
        self._words[self._slot(name)] = address

    def table(self) -> int:
        _kept.append(self._words)
        return ctypes.addressof(self._words) + _PREFIX * _WORD

    def object(self) -> int:
        instance = ctypes.c_void_p(self.table())
        _kept.append(instance)
        return ctypes.addressof(instance)

    def _slot(self, name: str) -> int:
        if name not in self._slots:
            raise RuntimeError(f"this torch has no {name} where the virtual accelerator needs it")
        return _PREFIX + self._slots.index(name)


def _slots(classes: Sequence[tuple[str, str]]) -> list[str]:
    """Name the virtual methods of a class, given with its bases, in the order of their table."""
    slots: list[str] = []
    for header, name in classes:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", _read(_INCLUDE / header), flags=re.DOTALL)
        text = re.sub(r"#ifdef USE_ROCM.*?#endif", "", text, flags=re.DOTALL)
        found = re.search(
            rf"struct (?:TORCH_API |C10_API )?{name}\b[^;{{]*{{(.*?)\n}};", text, re.DOTALL
        )
        if found is None:
            raise RuntimeError(f"{_INCLUDE / header}: no struct {name}")
        for method in re.findall(r"\bvirtual\s[^;{(]*?(~?\w+)\s*\(", found[1]):
            if method.startswith("~"):
                if method not in slots:  # one destructor that keeps the memory, one that frees it
                    slots += [method, f"{method} delete"]
            elif method not in slots:
                slots.append(method)
    return slots


def _device_number(device_type: str) -> int:
    for header in _TYPES:
        if (_INCLUDE / header).exists():
            found = re.search(rf"^\s*{device_type} = (\d+)", _read(_INCLUDE / header), re.I | re.M)
            if found:
                return int(found[1])
    raise RuntimeError(f"this torch knows no device type {device_type!r}")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise RuntimeError(f"{path}: {error.strerror} (torch ships this header)") from None


def _library(name: str) -> ctypes.CDLL:
    path = _ROOT / "lib" / f"lib{name}.{_SUFFIX}"
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise RuntimeError(f"{path}: {error}") from None


def _word(address: int) -> int:
    value = ctypes.c_void_p.from_address(address).value
    assert value is not None
    return value


def _write(address: int, value: int) -> None:
    ctypes.c_void_p.from_address(address).value = value
