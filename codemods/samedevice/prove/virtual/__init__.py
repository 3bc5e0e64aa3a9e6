"""A virtual accelerator: tensors that are on `cuda:0` without a GPU.

After `install()` this process has accelerators that torch takes for real:
`torch.cuda.is_available()` is true, tensors move there and say so, and where operands in two places
meet, the program stops with the exception and the words of a GPU machine. The values are the CPU's.

>>> from samedevice.prove.virtual import install
>>> accelerator = install("cuda")                                    # doctest: +SKIP
>>> torch.ones(2, device="cuda") + torch.ones(2)                     # doctest: +SKIP
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, ...

torch is imported by `install`, not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from samedevice.prove.virtual.accelerator import Accelerator

__all__ = [
    "ASSERTS",
    "COMPILED",
    "MEMORY",
    "VARIABLE",
    "WHERE_POSSIBLE",
    "hook_directory",
    "install",
    "install_from_environment",
    "installed",
]

VARIABLE = "SAMEDEVICE_VIRTUAL"  # "cuda:1": type and number of devices for child processes
MEMORY = "SAMEDEVICE_VIRTUAL_MEMORY"  # "8G": the size of each device; without it there is no limit
ASSERTS = "SAMEDEVICE_VIRTUAL_ASSERTS"  # "1": an index out of bounds ends all use of the device
COMPILED = "SAMEDEVICE_VIRTUAL_COMPILED"  # "1": kernels in C++ where they can be built
WHERE_POSSIBLE = "auto"  # the same, and where they cannot be built nothing is said

_installed: Accelerator | None = None


def install(device_type: str = "cuda", count: int = 1) -> Accelerator:
    """Give this process, its threads and its children `count` accelerators of `device_type`.

    Calling it again returns the same accelerator. It does not record what a program does:
    `prove.watch` does. The environment can make it stricter: `MEMORY` and `ASSERTS`.

    A real GPU is hidden from this process for the rest of its life.

    Raises RuntimeError if the installed torch cannot carry one (it is a release that is not
    understood) or the process uses a real GPU already, ValueError if another one is installed or
    the environment asks for memory in words that are no size.
    """
    global _installed
    import torch  # noqa: F401  # in a child, its import installs what the environment asks for

    if _installed is None:
        from samedevice.prove.virtual.accelerator import Accelerator

        _installed = Accelerator(device_type, count)
    elif (_installed.device_type, _installed.count) != (device_type, count):
        raise ValueError(
            f"this process has {_installed.count} virtual {_installed.device_type} devices already"
        )
    return _installed


def installed() -> Accelerator | None:
    """Return the accelerator of this process, if `install` was called."""
    return _installed


def _forget() -> None:
    global _installed
    _installed = None


def hook_directory() -> str:
    """Return the directory to put first on a child's PYTHONPATH: it becomes virtual on its own.

    The child needs `VARIABLE` in its environment too; torch is touched only if it imports it.
    """
    from pathlib import Path

    return str(Path(__file__).parent / "hook")


def install_from_environment() -> Accelerator | None:
    """Install what the environment variable `SAMEDEVICE_VIRTUAL` asks for ("cuda:1"), if anything.

    Raises ValueError if its value is malformed.
    """
    import os

    value = os.environ.get(VARIABLE)
    if not value:
        return None
    device_type, _, count = value.partition(":")
    if not device_type or not (count or "1").isdigit():
        raise ValueError(f"{VARIABLE}={value}: expected a device type and a number, like cuda:1")
    return install(device_type, int(count or 1))


def size_of_memory() -> int | None:
    """Return the size of a device in bytes that the environment asks for, None for no limit.

    Raises ValueError if it is malformed.
    """
    import os
    import re

    value = os.environ.get(MEMORY, "")
    if not value:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kMGT]?)(?:i?B)?", value.strip(), re.IGNORECASE)
    size = int(float(found[1]) * (1 << 10 * " kmgt".index(found[2].lower() or " "))) if found else 0
    if size <= 0:
        raise ValueError(f"{MEMORY}={value}: expected a size such as 8G or 500M")
    return size
