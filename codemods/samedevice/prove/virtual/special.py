"""Operations that the accelerator does in a way of its own.

They make memory, move data between places, only look at sizes and strides, or are composed
otherwise for CUDA than for the CPU.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from samedevice.prove.virtual import rules
from samedevice.prove.virtual.bridge import adopt, set_storage_offset, to_device, to_host
from samedevice.prove.virtual.calls import Kernel, functional, on_cpu, operation, preparation
from samedevice.prove.virtual.ctc import ctc_kernels
from samedevice.prove.virtual.dtypes import SCALAR_TYPES
from samedevice.prove.virtual.generators import for_draw
from samedevice.prove.virtual.memory import MEMORY
from samedevice.prove.virtual.state import STATE
from samedevice.prove.virtual.strict import wait

_is_tracing = torch._C._get_tracing_state
_aten = torch.ops.aten

# Operations whose CPU kernels read and write sizes, strides and storages only.
_METADATA = [
    "as_strided",
    "view",
    "_reshape_alias",
    "unfold",
    "view_as_real",
    "view_as_complex",
    "set_.source_Storage_storage_offset",
    "_nested_view_from_buffer",
]


# As torch calls it on the CPU: benchmark, deterministic, cudnn_enabled, allow_tf32.
_CONVOLUTION_FLAGS = False, False, True, True


# What the sum with the bias comes after, by whether the convolution is transposed.
_CUDNN = _aten.cudnn_convolution.default, _aten.cudnn_convolution_transpose.default


def special_kernels() -> dict[str, Kernel]:
    """Return their kernels by the operations' names."""
    kernels: dict[str, Kernel] = {name: on_cpu(operation(name)) for name in _METADATA}
    kernels.update(
        {
            "empty.memory_format": _empty,
            "empty_strided": _empty_strided,
            "copy_": copy_,
            "_to_copy": to_copy,
            "_copy_from": _copy_from,
            "resize_": _resize_,
            "set_": _set_empty,
            "set_.source_Storage": _set_storage,
            "set_.source_Tensor": _set_tensor,
            "_local_scalar_dense": _local_scalar_dense,
            "_softmax": _softmax(_aten._softmax.default),
            "_log_softmax": _softmax(_aten._log_softmax.default),
            "native_dropout": _native_dropout,
            "native_dropout_backward": _native_dropout_backward(
                _aten.native_dropout_backward.default
            ),
            "_fused_sdp_choice": lambda *args, **kwargs: 0,  # the mathematical one
            **ctc_kernels(),
            "_efficientzerotensor": _zeros,
            "convolution": _convolution(_aten.convolution.default),
            "_convolution": functional(_aten._convolution.default),
        }
    )
    return kernels


def _empty(
    size: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    memory_format: Any = None,
) -> Tensor:
    MEMORY.foresee(size, dtype, STATE.index(device))
    return to_device(
        torch.empty(
            size, dtype=dtype, device="cpu", memory_format=memory_format or torch.contiguous_format
        ),
        STATE.index(device),
    )


def _empty_strided(
    size: Any,
    stride: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
) -> Tensor:
    MEMORY.foresee(size, dtype, STATE.index(device))
    return to_device(
        torch.empty_strided(size, stride, dtype=dtype, device="cpu"), STATE.index(device)
    )


def _zeros(size: Any, *, dtype: Any = None, device: Any = None, **ignored: Any) -> Tensor:
    return to_device(torch.zeros(size, dtype=dtype, device="cpu"), STATE.index(device))


def _type_name(tensor: Tensor) -> str:
    """Name a tensor's type as torch's messages do, which know the legacy names of CUDA's only."""
    name, place = str(tensor.type()), str(tensor.device.type)
    if place in ("cpu", "cuda"):
        return name
    return place.upper() + name.rpartition(".")[2].replace("Tensor", "Type")


def _convolution(op: Any) -> Kernel:
    """Refuse what cuDNN refuses, before all else, and in torch's words."""
    plain, traced = functional(op), _aten._convolution.default

    def kind(tensor: Tensor) -> tuple[str, torch.dtype]:
        return tensor.device.type, tensor.dtype

    def kernel(input: Tensor, weight: Tensor, bias: Tensor | None, *args: Any) -> Any:
        for name, tensor in (("weight", weight), ("bias", bias)):
            if tensor is not None and kind(tensor) != kind(input):
                end = "should be the same"
                if input.device.type == "cpu" and name == "weight":
                    end += " or input should be a MKLDNN tensor and weight is a dense tensor"
                raise RuntimeError(
                    f"Input type ({_type_name(input)}) and {name} type ({_type_name(tensor)}) {end}"
                )
        if not (input.is_floating_point() or input.is_complex()):
            raise RuntimeError("GET was unable to find an engine to execute this computation")
        if weight.device != input.device:
            rules.mixed(_CUDNN[bool(args[3])], (input, weight), {})
        if bias is not None and bias.device != input.device:
            rules.mixed(_aten.add.Tensor, (input.reshape(-1)[:1], bias), {})
        if _is_tracing():  # torch.jit.trace skips this one, and records the next
            return traced(input, weight, bias, *args, *_CONVOLUTION_FLAGS)
        return plain(input, weight, bias, *args)

    return kernel


def _host(tensor: Tensor) -> Tensor:
    return tensor if tensor.get_device() < 0 else to_host(tensor)


def copy_(self: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:
    """Copy numbers into a tensor, from any place."""
    if STATE.sync_mode and not non_blocking and self.is_cpu != source.is_cpu:
        wait()
    _host(self).copy_(_host(source))
    return self


def to_copy(
    self: Tensor, *, device: Any = None, non_blocking: bool = False, **options: Any
) -> Tensor:
    """Return a copy of a tensor with other options: a move, where one is a device."""
    options.pop("pin_memory", None)
    leaves = device is not None and device.type != STATE.device_type
    if STATE.sync_mode and not non_blocking and device is not None and self.is_cpu is not leaves:
        wait()
    if leaves:
        return _aten._to_copy.default._op(to_host(self), device=device, **options)
    copy = _aten._to_copy.default._op(_host(self), **options)
    return to_device(copy, self.get_device() if device is None else STATE.index(device))


def _copy_from(source: Tensor, self: Tensor, non_blocking: bool = False) -> Tensor:
    return copy_(self, source, non_blocking)


def _local_scalar_dense(self: Tensor) -> Any:
    return to_host(self).item()


def _resize_(self: Tensor, size: Any, *, memory_format: Any = None) -> Tensor:
    model = torch.empty(
        size,
        dtype=self.dtype,
        device="meta",
        memory_format=memory_format or torch.contiguous_format,
    )
    storage = self.untyped_storage()
    needed = (self.storage_offset() + model.numel()) * self.element_size()
    if needed > storage.nbytes():
        grown = torch.empty(needed, dtype=torch.uint8)
        old = torch.empty(0, dtype=torch.uint8, device=self.device).set_(storage)
        grown[: storage.nbytes()].copy_(to_host(old))
        fresh = to_device(grown, self.get_device())
        set_storage_offset(
            self, fresh.untyped_storage(), self.storage_offset(), model.size(), model.stride()
        )
    else:
        set_storage_offset(self, storage, self.storage_offset(), model.size(), model.stride())
    return self


def _set_empty(self: Tensor) -> Tensor:
    adopt(self, _empty([0], dtype=self.dtype, device=self.device))
    return self


def _set_storage(self: Tensor, source: Any) -> Tensor:
    length = source.nbytes() // self.element_size()
    return set_storage_offset(self, source, 0, [length], [1])


def _set_tensor(self: Tensor, source: Tensor) -> Tensor:
    if self.device != source.device:
        raise RuntimeError(
            f'Attempted to set the storage of a tensor on device "{self.device}" to a storage on '
            f'different device "{source.device}".  This is no longer allowed; the devices must '
            "match."
        )
    adopt(self, source)
    return self


def _softmax(op: Any) -> Kernel:
    """Widen half to float first where CUDA's kernel does both at once."""
    plain = functional(op)

    def kernel(self: Tensor, dim: int, half_to_float: bool) -> Any:
        return plain(self.float() if half_to_float else self, dim, False)

    return kernel


def _native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """Drop as the CPU's dropout does, from the same random numbers and with the same rounding."""
    host, index = to_host(input), input.get_device()
    if train is False or not host.numel():
        mask = torch.ones_like(host, dtype=torch.bool)
        return to_device(host.clone(), index), to_device(mask, index)
    if p == 1:
        return to_device(torch.zeros_like(host), index), to_device(
            torch.zeros_like(host, dtype=torch.bool), index
        )
    noise = torch.empty_like(host).bernoulli_(1 - p, generator=for_draw(None, index))
    mask = noise.bool()
    return to_device(host * noise.div_(1 - p), index), to_device(mask, index)


def _native_dropout_backward(op: Any) -> Kernel:
    prepare = preparation(op)

    def kernel(*args: Any, **kwargs: Any) -> Tensor:
        (grad, mask, scale), _, index = prepare(args, kwargs)
        if mask.dtype is not torch.bool:
            raise RuntimeError(f"Mask should be Bool Scalar Type{SCALAR_TYPES[mask.dtype]}")
        noise = mask.to(grad.dtype)
        return to_device(grad * (noise.div_(1 / scale) if scale else noise.zero_()), index)

    return kernel
