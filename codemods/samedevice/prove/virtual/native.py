"""Tell torch's C++ side that the accelerator exists, and which of its devices is current.

torch asks two objects: the *device guard* of a device type, which C++ extensions register in a
table that libc10 exports, and the type's *hooks*. Ours are torch's own do-nothing objects (a guard
that pretends, the hooks of a build without the accelerator) with a few virtual methods replaced. A
build for the accelerator has a guard and hooks of its own, which ours stand in for. In which slot
of the virtual table a method is, is read off the headers that the installed torch ships, so that
another release either works or is refused, never guessed at.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
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

_KINDS = "cuda", "xpu", "mps"
_WORD = ctypes.sizeof(ctypes.c_void_p)
_PREFIX = 2  # words of the Itanium C++ ABI before the first method: offset to top, type information
_SUFFIX = "dylib" if sys.platform == "darwin" else "so"

_kept: list[Any] = []  # what C++ points to may never be freed


class Registration:
    """The accelerator as C++ sees it; `undo` takes it back.

    `pinning` is the address of the allocator of pinned memory.
    """

    def __init__(
        self,
        device_type: str,
        current: Callable[[], int],
        exchange: Callable[[int], int],
        count: Callable[[], int],
    ) -> None:
        """Register `device_type`.

        `current` says which of its `count()` devices is current, `exchange` makes another one
        current and says which it was.

        Raises RuntimeError, before anything is changed, if this release of torch is not understood.
        """
        if torch.version.hip:
            raise RuntimeError(
                "this torch was built for ROCm: the virtual accelerator needs one for CUDA or CPUs"
            )
        if sys.platform == "win32":
            raise RuntimeError("the virtual accelerator needs Linux or macOS")
        c10, cpu, python = _library("c10"), _library("torch_cpu"), _library("torch_python")
        number, meta = _device_number(device_type), _device_number("meta")
        table = (ctypes.c_void_p * (max(number, meta) + 1)).in_dll(
            c10, "_ZN3c104impl26device_guard_impl_registryE"
        )
        if not table[meta]:
            raise RuntimeError("this torch has no device guard for meta tensors")
        guard = _guard(c10, table, device_type, current, exchange, count)
        hooks = {kind: _Hooks(cpu, kind) for kind in _KINDS}
        ours = hooks[device_type].plain
        ours.replace(f"has{device_type.upper()}", ctypes.c_bool, lambda this: True)
        for question in ("isBuilt", "isAvailable", "hasPrimaryContext"):
            ours.affirm(question)
        ours.replace("deviceCount", ctypes.c_int8, lambda this: count())
        ours.point("init", guard["destroyEvent"])
        # an allocator of the host that nothing else uses, so that what it gave is known by it
        allocator = c10["_ZN3c1028GetDefaultMobileCPUAllocatorEv"]
        allocator.restype = ctypes.c_void_p
        self.pinning: int = allocator()
        ours.point("getPinnedMemoryAllocator", _address(allocator))
        ours.replace("getDeviceFromPtr", ctypes.c_uint16, lambda this: number)
        if device_type == "xpu":
            ours.replace("getGlobalIdxFromDevice", ctypes.c_int32, lambda this: 0)

        self._require = python["_ZN5torch5utils24set_requires_device_initEN3c1010DeviceTypeEb"]
        self._hooks = hooks.values()
        self._guards, self._number, self._old_guard = table, number, table[number]
        table[number] = guard.object()
        for kind in self._hooks:  # those of other kinds go too: torch wants one kind at a time
            kind.install()

    def require_init(self) -> None:
        """Let torch initialize the device again before its next use."""
        self._require(ctypes.c_int8(self._number), ctypes.c_bool(True))

    def undo(self) -> None:
        """Give torch its own objects back. No tensor of the accelerator may be used afterwards."""
        self.require_init()
        self._guards[self._number] = self._old_guard
        for kind in self._hooks:
            kind.undo()


def _guard(
    c10: ctypes.CDLL,
    table: Any,
    device_type: str,
    current: Callable[[], int],
    exchange: Callable[[int], int],
    count: Callable[[], int],
) -> _Methods:
    number = _device_number(device_type)
    pretending = _pretending(c10, table)
    guard = _Methods(pretending or table[_device_number("meta")], _slots([_GUARD]))
    guard.replace("type", ctypes.c_int8, lambda this: number)
    # class Device is two bytes: its type, then its index
    guard.replace("getDevice", ctypes.c_uint16, lambda this: number | (current() << 8))
    if not pretending:
        guard.replace(
            "exchangeDevice",
            ctypes.c_uint16,
            lambda this, device: number | (exchange(device >> 8) << 8),
            ctypes.c_uint16,
        )
        guard.replace("setDevice", None, lambda this, new: exchange(new >> 8), ctypes.c_uint16)
        guard.point("uncheckedSetDevice", guard["setDevice"])
        # callbacks cannot return a Stream: a Device, and a number of eight bytes
        guard.point("getStream", _machine_code("0fb7c6 31d2 c3"))  # the device's, number 0
        guard.point("exchangeStream", _machine_code("4889f0 c3"))  # the one that was given
    elif device_type != "cuda":  # these insist on CUDA
        guard.point("exchangeDevice", guard["getDevice"])
        guard.point("setDevice", guard["destroyEvent"])
    guard.replace("deviceCount", ctypes.c_int8, lambda this: count())
    for event in ("record", "block", "synchronizeEvent", "synchronizeDevice"):
        guard.point(event, guard["destroyEvent"])  # returns at once, whatever it is given
    guard.point("synchronizeStream", guard["destroyEvent"])
    guard.point("getNewStream", guard["getStream"])  # one is as good as another
    for question in ("queryStream", "queryEvent"):
        guard.affirm(question)
    return guard


class _Hooks:
    """The hooks of one kind of accelerator, and the plain ones of a build without it."""

    def __init__(self, cpu: ctypes.CDLL, kind: str) -> None:
        name = kind.upper()
        get = cpu[f"_ZN2at6detail{len(name) + 8}get{name}HooksEv"]
        get.restype = ctypes.c_void_p
        self._instance: int = get()
        self._old = _word(self._instance)
        header = f"ATen/detail/{name}HooksInterface.h", f"{name}HooksInterface"
        table = _address(cpu[f"_ZTVN2at{len(name) + 14}{name}HooksInterfaceE"])
        pointer = ctypes.c_void_p(table + _PREFIX * _WORD)
        self.plain = _Methods(ctypes.addressof(pointer), _slots([_HOOKS_BASE, header]))

    def install(self) -> None:
        _write(self._instance, self.plain.table())

    def undo(self) -> None:
        _write(self._instance, self._old)


_TIMERS = (
    "_ZNSt8__detail9_Map_baseIN3c1010DeviceTypeESt4pairIKS2_St8functionIFSt10unique_ptrIN4c10d5TimerE"
    "St14default_deleteIS8_EENS1_6DeviceEEEESaISF_ENS_10_Select1stESt8equal_toIS2_ESt4hashIS2_ENS_18_"
    "Mod_range_hashingENS_20_Default_ranged_hashENS_20_Prime_rehash_policyENS_17_Hashtable_traitsILb1"
    "ELb0ELb1EEELb1EEixERS4_"
)
_FUNCTION = 32  # bytes of a std::function, which for a plain function may be copied as they are


def time_on_host(device_type: str) -> Callable[[], None] | None:
    """Let DistributedDataParallel measure its times on the device as it does on the host.

    Returns what undoes it, or None where torch's table of timers is not to be found.
    """
    cpu = _library("torch_cpu")
    try:
        entry, registry = cpu[_TIMERS], cpu["_ZN4c10d13TimerRegistryEv"]
    except AttributeError:  # another C++ library, or no torch.distributed
        return None
    registry.restype = entry.restype = ctypes.c_void_p
    entry.argtypes = ctypes.c_void_p, ctypes.POINTER(ctypes.c_int8)
    table = registry()

    def timer(kind: str) -> int:
        return int(entry(table, ctypes.byref(ctypes.c_int8(_device_number(kind)))))

    target = timer(device_type)
    old = ctypes.string_at(target, _FUNCTION)
    ctypes.memmove(target, timer("cpu"), _FUNCTION)

    def undo() -> None:
        ctypes.memmove(target, old, _FUNCTION)

    return undo


def _pretending(c10: ctypes.CDLL, table: Any) -> int | None:
    """Return torch's guard for CUDA without a GPU, if this release has one (2.9 has none)."""
    try:
        ensure = c10["_ZN3c104impl24ensureCUDADeviceGuardSetEv"]
    except AttributeError:
        return None
    cuda = _device_number("cuda")
    old = table[cuda]
    # torch replaces a guard that has no devices by one that pretends
    empty = _Methods(table[_device_number("meta")], _slots([_GUARD]))
    empty.replace("deviceCount", ctypes.c_int8, lambda this: 0)
    table[cuda] = empty.object()
    ensure()
    found, table[cuda] = table[cuda], old
    return int(found)


def _machine_code(code: str) -> int:
    """Return the address of a function of one or two instructions, given in hexadecimal."""
    if platform.machine() not in ("x86_64", "AMD64"):
        raise RuntimeError(
            f"on {platform.machine()}, the virtual accelerator needs a newer torch than "
            f"{torch.__version__}"
        )
    content = bytes.fromhex(code)
    try:
        memory = mmap.mmap(-1, len(content), prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError as error:
        raise RuntimeError(f"no memory for machine code: {error.strerror}") from None
    memory[:] = content
    _kept.append(memory)
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


class _Methods:
    """A copy of an object's virtual table, to be changed."""

    def __init__(self, instance: int, slots: Sequence[str]) -> None:
        words = _PREFIX + len(slots)
        start = _word(instance) - _PREFIX * _WORD
        self._slots = slots
        self._words = (ctypes.c_void_p * words)(*(ctypes.c_void_p * words).from_address(start))

    def replace(
        self, name: str, result: Any, function: Callable[..., Any], *arguments: Any
    ) -> None:
        callback = ctypes.CFUNCTYPE(result, ctypes.c_void_p, *arguments)(function)
        _kept.append(callback)
        self.point(name, _address(callback))

    def affirm(self, name: str) -> None:
        """Let a question be answered by yes: without Python where that can be, torch asks often."""
        try:
            self.point(name, _machine_code("b801000000 c3"))
        except RuntimeError:  # another processor, or no memory for code
            self.replace(name, ctypes.c_bool, lambda this: True)

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


def _address(function: Any) -> int:
    value = ctypes.cast(function, ctypes.c_void_p).value
    assert value is not None
    return value


def _word(address: int) -> int:
    value = ctypes.c_void_p.from_address(address).value
    assert value is not None
    return value


def _write(address: int, value: int) -> None:
    ctypes.c_void_p.from_address(address).value = value
