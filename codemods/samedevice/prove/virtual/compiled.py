"""Kernels in C++ for calls that need no decision: built on first use, where a compiler is.

The Python kernels are the default, and do all that these leave: they stand under a dispatch key
that nothing else uses, to which the C++ ones hand on every call whose operands are not plain (in
several places, sparse, conjugated, of types that CUDA may lack, ...). What is built is kept in the
user's cache directory, by the release of torch.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import torch

from samedevice.prove import virtual
from samedevice.prove.virtual.dtypes import LACKING, is_widened
from samedevice.prove.virtual.memory import MEMORY
from samedevice.prove.virtual.patches import Patches
from samedevice.prove.virtual.state import STATE
from samedevice.prove.virtual.strict import waits

#: The dispatch key of the Python kernels behind those in C++.
BEHIND = "PrivateUse3"

_SOURCE = Path(__file__).with_name("kernels.cpp")
_FLAGS = "-std=c++20", "-O2", "-fPIC", "-shared"
_SECONDS = 600
_FAILED = ".failed"  # of a file that says so
_FOR_CPUS = torch.version.cuda is None  # asked before the accelerator says otherwise
# Kernels of a form of their own that do what the CPU's do, and those that only look at sizes.
_ALIKE = {"empty.memory_format": -1, "empty_strided": -1, "_softmax": 2, "_log_softmax": 2}
_VIEWS = frozenset(["as_strided", "view", "_reshape_alias", "unfold"])
_OTHER_KINDS = "sparse", "nested", "quantize", "mkldnn", "dense", "resize", "set_", "storage"


class Compiled:
    """The library, loaded into this process."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        library.samedevice_counts.restype = ctypes.POINTER(ctypes.c_int64)
        for switch in (library.samedevice_enabled, library.samedevice_devices):
            switch.restype = ctypes.POINTER(ctypes.c_int32)
        library.samedevice_devices().contents.value = STATE.count
        self._enabled = library.samedevice_enabled().contents
        self._stopped = False
        self._switch()
        MEMORY.share(library.samedevice_counts(), self.stop)

    def take(self, op: Any, name: str, is_special: bool) -> bool:
        """Serve an operation, if it has a form that is served; tell whether."""
        if not is_special and not _is_served(op, name):
            return False
        if is_special and name not in _ALIKE and name not in _VIEWS:
            return False
        packet, _, overload = name.partition(".")
        floats = packet in LACKING or is_widened(packet)
        return bool(
            self._library.samedevice_register(
                f"aten::{packet}".encode(),
                overload.encode(),
                int(floats),
                int(name in _VIEWS),
                _ALIKE.get(name, -1),
            )
        )

    def stop(self) -> None:
        """Hand on every call from now on."""
        self._stopped = True
        self._switch()

    def _switch(self) -> None:
        # What may have no deterministic kernel is for the kernels in Python to refuse.
        refusing = torch.are_deterministic_algorithms_enabled()
        self._enabled.value = int(not self._stopped and not refusing)

    def follow(self, patches: Patches) -> None:
        """Hand on every call while the program wants deterministic results."""
        change = torch._C._set_deterministic_algorithms

        def changed(mode: bool, *, warn_only: bool = False) -> None:
            change(mode, warn_only=warn_only)
            self._switch()

        patches.set(torch._C, "_set_deterministic_algorithms", changed)

    def forget(self) -> None:
        """Take all kernels back."""
        self._library.samedevice_forget()
        MEMORY.share(None, lambda: None)


def _is_served(op: Any, name: str) -> bool:
    packet = name.partition(".")[0]
    schema = op._schema
    if any(word in packet for word in _OTHER_KINDS) or waits(packet):
        return False
    for argument in schema.arguments:
        kind = str(argument.type).replace("Optional[Tensor]", "Tensor?").replace("List", "")
        if argument.name == "generator" or "Tensor?" in kind and kind.startswith("["):
            return False
        written = argument.alias_info is not None and argument.alias_info.is_write
        if written and (argument.kwarg_only or kind != "Tensor"):
            return written and not argument.kwarg_only and not schema.returns
    return all(result.alias_info is None or result.alias_info.is_write for result in schema.returns)


def load(device_type: str) -> Compiled | None:
    """Return the library, built if it is not yet; None where it cannot be.

    A warning says so then, unless it was asked for only where possible. Who did not ask for it by
    name is told why the first program takes some ten seconds longer; where that fails, it is not
    tried again.
    """
    asked = os.environ.get(virtual.COMPILED) != virtual.WHERE_POSSIBLE
    try:
        if device_type != "cuda" or not _FOR_CPUS:
            raise RuntimeError("they are for virtual cuda on a build of torch for CPUs")
        path = _folder() / f"virtual-{torch.__version__}-{_digest()}.so"
        if not _is_ours(path):
            if not asked and path.with_suffix(_FAILED).exists():
                return None
            _build(path, told=not asked)
        return Compiled(ctypes.CDLL(str(path)))
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        if asked:
            said = f"samedevice: no kernels in C++, those in Python serve instead: {error}"
            warnings.warn(said, stacklevel=2)
        return None


def _folder() -> Path:
    chosen = os.environ.get("SAMEDEVICE_CACHE_DIR")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(chosen) if chosen else Path(base) / "samedevice"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _digest() -> str:
    return hashlib.sha256(_SOURCE.read_bytes() + repr(_FLAGS).encode()).hexdigest()[:12]


def _is_ours(path: Path) -> bool:
    """Tell whether a library is there that this user wrote, and nobody else can have changed."""
    try:
        found = path.lstat()
    except OSError:
        return False
    others = stat.S_IWGRP | stat.S_IWOTH
    return (
        stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & others
    )


def _build(path: Path, told: bool) -> None:
    """Compile the library; some ten seconds. Raises RuntimeError if that fails."""
    names = [os.environ["CXX"]] if os.environ.get("CXX") else ["c++", "g++"]
    compiler = next(filter(None, map(shutil.which, names)), None)
    if compiler is None:
        raise RuntimeError("there is no C++ compiler (c++, g++, or $CXX)")
    if told:
        note = f"note: kernels in C++ for torch {torch.__version__} are built, once"
        print(note, file=sys.stderr, flush=True)
    root = Path(torch.__file__).parent
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        made = Path(scratch, "made.so")
        command = [
            *(compiler, *_FLAGS, str(_SOURCE), "-o", str(made)),
            f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}",
            *(f"-I{root / 'include'}", f"-I{root / 'include/torch/csrc/api/include'}"),
            *(f"-L{root / 'lib'}", "-ltorch_cpu", "-lc10"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
        if done.returncode:
            path.with_suffix(_FAILED).touch()
            said = [line for line in done.stderr.splitlines() if "error" in line]
            raise RuntimeError(said[0] if said else f"{compiler} ended with {done.returncode}")
        made.chmod(0o700)
        os.replace(made, path)
