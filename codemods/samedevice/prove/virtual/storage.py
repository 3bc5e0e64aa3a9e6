"""Storages, legacy tensor types and pinned memory on the accelerator."""

from __future__ import annotations

import ctypes
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
        sparse = getattr(torch.cuda.sparse, f"{kind}Tensor", None)
        if sparse is not None:
            patches.set(torch.cuda.sparse, f"{kind}Tensor", _sparse_type(kind, sparse))
    set_type, construct = torch.set_default_tensor_type, Tensor.__new__

    def set_default_tensor_type(t: Any) -> None:
        name = t if isinstance(t, str) else f"{t.__module__}.{t.__name__.rpartition('.')[2]}"
        on_device = name.startswith("torch.cuda.")
        set_type(name.replace("torch.cuda.", "torch.") if on_device else t)
        torch.set_default_device(STATE.device_type if on_device else None)
        if on_device:
            Tensor.__new__ = new
        elif "__new__" in vars(Tensor):
            del Tensor.__new__

    @staticmethod  # type: ignore[misc]
    def new(cls: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Construct what `torch.Tensor(2, 3)` does, on the device, but for what has a place."""
        made = construct(cls, *args, **kwargs)
        placed = kwargs or (args and isinstance(args[0], (Tensor, torch.UntypedStorage)))
        return made if cls is not Tensor or placed else made.to(STATE.device_type)

    patches.set(torch, "set_default_tensor_type", set_default_tensor_type)


def install_pinning(patches: Patches, allocator: int) -> None:
    """Let `is_pinned` know what `allocator` gave, and `record_stream` do nothing.

    Raises RuntimeError if the storages of this torch do not say which allocator is theirs.
    """
    storage = torch.empty(1, device="cpu", pin_memory=True).untyped_storage()
    word = ctypes.sizeof(ctypes.c_void_p)
    offsets = range(0, 16 * word, word)
    offset = next((at for at in offsets if _word(storage._cdata + at) == allocator), None)
    if offset is None:
        raise RuntimeError("the storages of this torch have a form that is not known here")
    pin, is_pinned = Tensor.pin_memory, Tensor.is_pinned

    def pin_memory(self: Tensor, *device: Any) -> Tensor:
        if self.device.type == "cpu" and is_pinned_now(self):
            return self
        return pin(self, *device)

    def is_pinned_now(self: Tensor, *device: Any) -> bool:
        if self.layout is not torch.strided:
            return bool(is_pinned(self, *device))
        return self.is_cpu and _word(self.untyped_storage()._cdata + offset) == allocator

    patches.set(Tensor, "pin_memory", pin_memory)
    patches.set(Tensor, "is_pinned", is_pinned_now)
    patches.set(Tensor, "record_stream", lambda self, stream: None)


def _word(address: int) -> int | None:
    return ctypes.c_void_p.from_address(address).value


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


class _SparseKind(_LegacyKind):
    """Such a class for sparse tensors: what it makes is where its values are."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], Tensor):
            return torch.sparse_coo_tensor(*args)
        size = args[0] if args and not isinstance(args[0], int) else args
        return torch.sparse_coo_tensor(size=size, dtype=cls.dtype, device=STATE.device_type)


def _sparse_type(kind: str, old: Any) -> Any:
    name = f"torch.cuda.sparse.{kind}Tensor"
    return _SparseKind(name, (), {"_old": old, "__module__": "torch.cuda.sparse"})


def _legacy_type(kind: str, host: Any, old: Any) -> Any:
    # torch reads the type's name, module included, when it is given to Tensor.type
    name = f"torch.cuda.{kind}Tensor"
    return _LegacyKind(name, (), {"_host": host, "_old": old, "__module__": "torch.cuda"})
