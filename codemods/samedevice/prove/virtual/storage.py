"""Storages, legacy tensor types and pinned memory on the accelerator."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from samedevice.prove.virtual.patches import Patches
from samedevice.prove.virtual.state import STATE

_LEGACY = ["Float", "Double", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long", "Bool"]


def install_storages(patches: Patches) -> None:
    """Let `torch.UntypedStorage(n, device="cuda")` and what builds on it work."""
    original = torch.UntypedStorage.__new__

    def new(cls: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        if device is None or torch.device(device).type != STATE.device_type:
            if device is not None:
                kwargs["device"] = device
            return original(cls, *args, **kwargs)
        size = args[0] if args else 0
        if not isinstance(size, int):
            return torch.tensor(list(size), dtype=torch.uint8, device=device).untyped_storage()
        return torch.empty(size, dtype=torch.uint8, device=device).untyped_storage()

    patches.set(torch.UntypedStorage, "__new__", staticmethod(new))


def install_legacy_types(patches: Patches) -> None:
    """Let `torch.cuda.FloatTensor(...)` construct, and `set_default_tensor_type` accept it."""
    for kind in _LEGACY:
        host = getattr(torch, f"{kind}Tensor", None)
        old = getattr(torch.cuda, f"{kind}Tensor", None)
        if host is not None and old is not None:
            patches.set(torch.cuda, f"{kind}Tensor", _legacy_type(kind, host, old))
    set_type = torch.set_default_tensor_type

    def set_default_tensor_type(t: Any) -> None:
        name = t if isinstance(t, str) else f"{t.__module__}.{t.__name__.rpartition('.')[2]}"
        if name.startswith("torch.cuda."):
            set_type(name.replace("torch.cuda.", "torch."))
            torch.set_default_device(STATE.device_type)
        else:
            set_type(t)
            torch.set_default_device(None)

    patches.set(torch, "set_default_tensor_type", set_default_tensor_type)


def install_pinning(patches: Patches) -> None:
    """Let `pin_memory` say afterwards that memory is pinned, and `record_stream` do nothing."""
    pin, is_pinned = Tensor.pin_memory, Tensor.is_pinned

    def pin_memory(self: Tensor, *device: Any) -> Tensor:
        if self.device.type == "cpu" and is_pinned_now(self):
            return self
        pinned = pin(self, *device)
        pinned.untyped_storage()._pinned_by_samedevice = True
        return pinned

    def is_pinned_now(self: Tensor, *device: Any) -> bool:
        if self.layout is not torch.strided:
            return bool(is_pinned(self, *device))
        return hasattr(self.untyped_storage(), "_pinned_by_samedevice")

    patches.set(Tensor, "pin_memory", pin_memory)
    patches.set(Tensor, "is_pinned", is_pinned_now)
    patches.set(Tensor, "record_stream", lambda self, stream: None)


class _LegacyKind(type):
    """The class of the legacy types: they are called and compared, never instantiated."""

    _host: Any
    _old: Any

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        kwargs.pop("device", None)
        return cls._host(*args, **kwargs).to(STATE.device_type)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls._old)

    @property
    def dtype(cls) -> Any:
        return cls._old.dtype

    @property
    def is_cuda(cls) -> bool:
        return True


def _legacy_type(kind: str, host: Any, old: Any) -> Any:
    # torch reads the type's name, module included, when it is given to Tensor.type
    name = f"torch.cuda.{kind}Tensor"
    return _LegacyKind(name, (), {"_host": host, "_old": old, "__module__": "torch.cuda"})
