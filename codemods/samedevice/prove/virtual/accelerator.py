"""The virtual accelerator of this process as one object."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

import torch

from samedevice.prove import virtual
from samedevice.prove.virtual import (
    bridge,
    compiled,
    distributed,
    generators,
    hops,
    kernels,
    parallel,
    rules,
    runtime,
    sharing,
    storage,
)
from samedevice.prove.virtual.memory import MEMORY
from samedevice.prove.virtual.native import Registration, time_on_host
from samedevice.prove.virtual.patches import Patches
from samedevice.prove.virtual.state import STATE

_MOST = 8  # devices that torch's pretending guard has
_KEYS = {"cuda": "CUDA", "mps": "MPS", "xpu": "XPU"}


class Accelerator:
    """What `install` gave to this process."""

    def __init__(self, device_type: str, count: int) -> None:
        """Install `count` devices of `device_type`; see `samedevice.prove.virtual.install`."""
        if device_type not in _KEYS:
            names = ", ".join(_KEYS)
            raise RuntimeError(f"no virtual {device_type!r} devices: the types are {names}")
        if not 1 <= count <= _MOST:
            raise ValueError(f"{count} devices: there can be one to {_MOST}")
        if count > 1 and device_type != "cuda":
            raise RuntimeError(f"{count} virtual {device_type} devices: there can be one")
        MEMORY.set_limit(virtual.size_of_memory())
        STATE.asserts = os.environ.get(virtual.ASSERTS, "") not in ("", "0")
        rules.declared()  # raises if this torch does not ship them, before anything is changed
        runtime.hide_real_devices()
        self.device_type = device_type
        self.count = count
        STATE.device_type, STATE.count = device_type, count
        self._native = Registration(device_type, STATE.current, STATE.exchange, lambda: STATE.count)
        self._patches = Patches()
        self._undo_timers: Callable[[], None] | None = None
        self._libraries: list[torch.library.Library] = []
        self._compiled: compiled.Compiled | None = None
        try:
            bridge.configure(device_type)
            generators.create_defaults()
            self._install_python()
            key = _KEYS[device_type]
            if os.environ.get(virtual.COMPILED, "") not in ("", "0"):
                self._compiled = compiled.load(device_type)
                if self._compiled is not None:
                    self._compiled.follow(self._patches)
            self._libraries += kernels.register(key, self._compiled)
            self._libraries.append(hops.register(key))
            self._watch_extensions(key)
            self._libraries += distributed.register(key)
            self._undo_timers = time_on_host(device_type)
        except BaseException:
            self._undo()
            raise
        os.register_at_fork(after_in_child=self._after_fork)

    def _install_python(self) -> None:
        patches = self._patches
        runtime.install(patches, tuple(generators.DEFAULTS))
        storage.install_storages(patches)
        storage.install_pinning(patches, self._native.pinning)
        if self.device_type == "cuda":
            storage.install_legacy_types(patches)
            parallel.install(patches)
            sharing.install(patches)
            distributed.install_nccl(patches)
        patches.set(torch, "Generator", generators.Generator)
        for module in (torch, torch.random):
            for name in ("manual_seed", "seed"):
                patches.set(module, name, _following(getattr(module, name)))
        # the optimizers' loops over single tensors: the numbers of the CPU, to the last bit
        patches.set(
            sys.modules["torch.optim.optimizer"], "_get_foreach_kernels_supported_devices", list
        )
        patches.set(torch, "compile", _compiling(torch.compile))
        # backward passes of this thread stay in it: in the CPU's order, and also where the engine's
        # threads were set up before there were devices
        torch.autograd.set_multithreading_enabled(False)

    def _watch_extensions(self, key: str) -> None:
        """Replace the kernels of CUDA that libraries bring (torchvision's), too."""
        load, known = torch.ops.load_library, kernels.registered(key)

        def load_library(path: Any) -> None:
            load(path)
            new = kernels.registered(key) - known
            known.update(new)
            self._libraries += kernels.stand_in(sorted(new), key)

        self._patches.set(torch.ops, "load_library", load_library)

    def _after_fork(self) -> None:
        if virtual.installed() is not self:
            return
        module = getattr(torch, self.device_type)
        if getattr(module, "is_initialized", lambda: True)():
            STATE.forked = True
            self._native.require_init()
            bridge.close("CUDA error: initialization error")

    def uninstall(self) -> None:
        """Take everything back. No tensor of the accelerator may be used afterwards."""
        self._undo()
        virtual._forget()

    def _undo(self) -> None:
        if self._compiled is not None:
            self._compiled.forget()
        for library in self._libraries:
            library._destroy()
        self._patches.undo()
        torch.autograd.set_multithreading_enabled(True)
        if self._undo_timers is not None:
            self._undo_timers()
        self._native.undo()


def _following(seed: Callable[..., Any]) -> Callable[..., Any]:
    def seeded(*args: Any) -> Any:
        result = seed(*args)
        generators.follow_all()
        return result

    seeded.__doc__, seeded.__name__ = seed.__doc__, seed.__name__
    return seeded


# What traces and then runs operation by operation; other backends generate code for a GPU.
_TRACING = frozenset(["eager", "aot_eager", "aot_eager_decomp_partition"])


def _compiling(compile_: Callable[..., Any]) -> Callable[..., Any]:
    """Return `torch.compile` for an accelerator that runs everything eagerly.

    Backends that only trace are torch's own, and so are those that a program brings as functions.
    For others the function or module itself is returned.
    """

    @functools.wraps(compile_)
    def compiling(model: Any = None, *, backend: Any = "inductor", **options: Any) -> Any:
        if model is None:
            return lambda model: compiling(model, backend=backend, **options)
        if not callable(backend) and backend not in _TRACING:
            return model
        from torch._dynamo import trace_rules

        trace_rules.add("samedevice.prove")  # its kernels are no part of what is traced
        return compile_(model, backend=backend, **options)

    return compiling
