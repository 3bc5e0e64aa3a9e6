"""The memory of the devices: counted when a storage begins and when it ends, with peaks.

Every storage of a device stands over a host tensor that lives as long (see `bridge`), so a weak
reference to that one tells the end. The numbers are those that CUDA's allocator would report for
the same storages, which takes blocks of 512 bytes; what it caches, and what kernels need besides,
is not imitated.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

TOTAL = 16 << 30  # bytes of a device, unless told otherwise
_BLOCK = 512
_MOST = 8  # devices
_reference = weakref.ref


class _Device:
    """One device: bytes in use, the most that were, how many storages it had, what it refused."""

    __slots__ = "count", "fraction", "index", "live", "peak", "refused", "used"

    def __init__(self, index: int) -> None:
        self.index = index
        self.used = self.peak = self.count = self.live = self.refused = 0
        self.fraction: float | None = None


def _shared(offset: int) -> property:
    def get(self: _Shared) -> int:
        return int(self.numbers[4 * self.index + offset])

    def put(self: _Shared, value: int) -> None:
        self.numbers[4 * self.index + offset] = value

    return property(get, put)


class _Shared(_Device):
    """The same, with the numbers that the kernels in C++ count, too: four words of theirs."""

    __slots__ = ("numbers",)

    def __init__(self, index: int, numbers: Any) -> None:
        self.numbers = numbers
        super().__init__(index)

    used, peak, count, live = map(_shared, range(4))


# By the reference's id, for a reference hashes as its tensor does, which is slow.
_references: dict[int, tuple[Any, _Device, int]] = {}


def _release(reference: Any) -> None:
    _, device, size = _references.pop(id(reference))
    device.used -= size
    device.live -= 1


class Memory:
    """What is in use on each device, by its index; all sizes are in bytes.

    `limit` is None unless the user gave the device a size: only then is there a limit.
    """

    def __init__(self) -> None:
        self.limit: int | None = None
        self._ends = False
        self._stop: Callable[[], None] = lambda: None
        self._devices = [_Device(index) for index in range(_MOST)]

    @property
    def total(self) -> int:
        """The size of a device."""
        return TOTAL if self.limit is None else self.limit

    def set_limit(self, limit: int | None) -> None:
        """Give all devices a size, or none."""
        self.limit = limit
        self._ends = limit is not None

    def share(self, numbers: Any, stop: Callable[[], None]) -> None:
        """Count where the kernels in C++ count, and `stop` these once there is an end to memory."""
        self._stop = stop
        make = _Device if numbers is None else lambda index: _Shared(index, numbers)
        self._devices = [make(index) for index in range(_MOST)]
        if self._ends:
            stop()

    def stop(self) -> None:
        """Stop the kernels in C++, which ask nobody whether there is room, or a device at all."""
        self._stop()

    def take(self, host: Tensor, index: int) -> None:
        """Count the memory of a host tensor for a device, for as long as it lives.

        Raises torch.cuda.OutOfMemoryError if the device has a size and is full.
        """
        size: int = host.nbytes
        if not size:
            return
        size = (size + _BLOCK - 1) & -_BLOCK
        if self._ends:
            self.check(size, index)
        device = self._devices[index]
        reference = _reference(host, _release)
        _references[id(reference)] = reference, device, size
        device.used += size
        device.count += 1
        device.live += 1
        if device.used > device.peak:
            device.peak = device.used

    def foresee(self, shape: Sequence[int], dtype: torch.dtype | None, index: int) -> None:
        """Do the same for a tensor that does not exist yet: the host may not have that much.

        Raises as `take` does.
        """
        if self._ends:
            size = math.prod(shape) * (dtype or torch.get_default_dtype()).itemsize
            self.check(size, index)

    def check(self, size: int, index: int) -> None:
        """Raise torch.cuda.OutOfMemoryError if `size` more is more than the device has."""
        device = self._devices[index]
        fraction, used = device.fraction, device.used
        if self.limit is None and fraction is None:
            return
        allowed = self.total if fraction is None else int(self.total * fraction)
        if used + size <= allowed:
            return
        device.refused += 1
        raise torch.cuda.OutOfMemoryError(
            f"CUDA out of memory. Tried to allocate {_words(size)}. GPU {index} has a total "
            f"capacity of {_words(self.total)} of which {_words(max(self.total - used, 0))} is "
            f"free. Including non-PyTorch memory, this process has {_words(used)} memory in use. "
            + ("" if fraction is None else f"{_words(allowed)} allowed; ")
            + f"Of the allocated memory {_words(used)} is allocated by PyTorch, and {_words(0)} is "
            "reserved by PyTorch but unallocated. If reserved but unallocated memory is large try "
            "setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See "
            "documentation for Memory Management  "
            "(https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)"
        )

    def set_fraction(self, fraction: float, index: int) -> None:
        """Allow no more than this part of a device (`set_per_process_memory_fraction`)."""
        self._devices[index].fraction = fraction
        self._ends = True
        self.stop()

    def fraction(self, index: int) -> float:
        """Return the part of a device that may be used."""
        fraction = self._devices[index].fraction
        return 1.0 if fraction is None else fraction

    def used(self, index: int) -> int:
        """Return what is in use."""
        return self._devices[index].used

    def made(self) -> int:
        """Return how many storages there have been, on all devices."""
        return sum(device.count for device in self._devices)

    def info(self, index: int) -> tuple[int, int]:
        """Return what is free, and the size of the device."""
        return max(self.total - self.used(index), 0), self.total

    def reset_peak(self, index: int) -> None:
        """Let the peak be what is in use now."""
        self._devices[index].peak = self.used(index)

    def stats(self, index: int) -> dict[str, Any]:
        """Return the numbers of an allocator that gives back at once what is released."""
        device = self._devices[index]
        used, count, live = device.used, device.count, device.live
        nothing = {"current": 0, "peak": 0, "allocated": 0, "freed": 0}
        size = {"current": used, "peak": device.peak, "allocated": used, "freed": 0}
        number = {"current": live, "peak": live, "allocated": count, "freed": count - live}

        def pools(numbers: dict[str, int]) -> dict[str, dict[str, int]]:
            return {
                "all": dict(numbers),
                "small_pool": dict(nothing),
                "large_pool": dict(numbers),
            }

        sizes = ("allocated_bytes", "reserved_bytes", "active_bytes", "requested_bytes")
        return {
            **{name: pools(size) for name in sizes},
            **{name: pools(number) for name in ("allocation", "segment", "active")},
            **{name: pools(nothing) for name in ("inactive_split", "inactive_split_bytes")},
            **{name: dict(nothing) for name in ("oversize_allocations", "oversize_segments")},
            "num_alloc_retries": 0,
            "num_ooms": device.refused,
            "num_sync_all_streams": 0,
            "num_device_alloc": count,
            "num_device_free": count - live,
            "max_split_size": -1,
        }


def _words(size: int) -> str:
    """Write a size as CUDA's allocator does."""
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << shift:
            return f"{size / (1 << shift):.2f} {unit}"
    return f"{size} bytes"


MEMORY = Memory()
