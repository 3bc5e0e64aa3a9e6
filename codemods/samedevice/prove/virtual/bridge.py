"""Turn host tensors into device tensors and back, without copying a byte.

A DLPack capsule says of a piece of memory on which device it is. torch writes such a capsule for a
host tensor, the device in it is overwritten, and torch reads it back: the result is an ordinary
`torch.Tensor` (not a subclass) whose device, dispatch keys and type are those of the accelerator,
while its memory is the host's. The other way round gives the operations of the CPU access to it.
Either object keeps the memory alive.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from samedevice.prove.virtual.memory import MEMORY

_to_capsule: Any = torch._C._to_dlpack
_from_capsule: Any = torch._C._from_dlpack
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_int64_at = ctypes.c_int64.from_address

# struct DLManagedTensor { struct DLTensor { void *data; struct { int32 type, id; } device; ...
_DEVICE_OFFSET = ctypes.sizeof(ctypes.c_void_p)
_HOST = 1
_strided = torch.strided
_shape_of = Tensor.shape.__get__  # for classes of tensors that hide theirs
_DLPACK_TYPES = {"cuda": 2, "mps": 8, "xpu": 14}

_dlpack_type = _DLPACK_TYPES["cuda"]
_refused_dtype: torch.dtype | None = None  # that the accelerator lacks
_nowhere = ctypes.create_string_buffer(1)  # an address for tensors without elements

_as_strided_on_host = torch.ops.aten.as_strided_.default._op
_set_on_host = torch.ops.aten.set_.source_Storage_storage_offset._op_dk
_sparse_coo = torch.ops.aten._sparse_coo_tensor_with_dims_and_tensors.default._op_dk
_sparse_compressed = torch.ops.aten._sparse_compressed_tensor_unsafe.default._op
_BY_ROWS = frozenset([torch.sparse_csr, torch.sparse_bsr])
_COMPRESSED = _BY_ROWS | {torch.sparse_csc, torch.sparse_bsc}
_CPU = torch._C.DispatchKey.CPU
_SPARSE_CPU = torch._C.DispatchKey.SparseCPU
_nested = torch.ops.aten._nested_view_from_buffer.default._op_dk
_NESTED = {"cpu": _CPU}  # the key of what makes a nested tensor of a dense one


def configure(device_type: str) -> None:
    """Choose the accelerator that `to_device` makes tensors of."""
    _NESTED[device_type] = _CPU
    global _dlpack_type, _refused_dtype
    _dlpack_type = _DLPACK_TYPES[device_type]
    _refused_dtype = torch.float64 if device_type == "mps" else None


def to_device(host: Tensor, index: int, counted: bool = True) -> Tensor:
    """Return a tensor on accelerator `index` over the memory of `host`.

    Sizes and strides are kept. The storage begins at the first element of `host`, so only tensors
    whose storage nobody looks at through another one (fresh results) should come here. What is not
    `counted` is memory that no allocator of this process gave.
    """
    if host.layout is not _strided or host.is_conj() or host.is_nested:
        return _uncommon_to_device(host, index)
    shape = _shape_of(host)
    if host.dtype is _refused_dtype:
        raise TypeError(
            "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support "
            "float64. Please use float32 instead."
        )
    try:
        capsule = _to_capsule(host)
    except BufferError:
        raise lacking(str(host.dtype).removeprefix("torch.")) from None
    if counted:
        MEMORY.take(host, index)
    address = _pointer(capsule, b"dltensor")
    _int64_at(address + _DEVICE_OFFSET).value = _dlpack_type | (index << 32)
    if 0 in shape:
        _int64_at(address).value = ctypes.addressof(_nowhere)
    device = _from_capsule(capsule)
    if (1 in shape or 0 in shape) and device.stride() != host.stride():
        # capsules carry stride 1 where the size makes it meaningless; torch does not forget it
        _as_strided_on_host(device, shape, host.stride())
    return device


def to_host(device: Tensor) -> Tensor:
    """Return a host tensor over the memory of a device tensor: it shares the memory as a view
    does."""
    if device.layout is not _strided or device.is_nested:
        return _of_parts(device, to_host)
    capsule = _to_capsule(device)
    _int64_at(_pointer(capsule, b"dltensor") + _DEVICE_OFFSET).value = _HOST
    host = _from_capsule(capsule)
    shape = _shape_of(device)
    if (1 in shape or 0 in shape) and host.stride() != device.stride():
        _as_strided_on_host(host, shape, device.stride())
    if device.is_conj():
        host = host.conj()
    if device.is_neg():
        host = torch._neg_view(host)
    return host


def _uncommon_to_device(host: Tensor, index: int) -> Tensor:
    if host.is_conj():
        return to_device(host.resolve_conj(), index)
    return _of_parts(host, lambda part: to_device(part, index))


def lacking(kind: str) -> NotImplementedError:
    """Return what to raise for a kind of tensor that the accelerator does not have."""
    return NotImplementedError(f"samedevice: the virtual accelerator has no {kind} tensors")


def parts(tensor: Tensor) -> tuple[Tensor, ...]:
    """Return the dense tensors that a sparse or nested one consists of, its values last.

    The sizes of a nested tensor are always on the host, and not among them.

    Raises NotImplementedError if it is of another kind.
    """
    if tensor.is_nested:
        return (tensor.values(),)
    if tensor.layout is torch.sparse_coo:
        return tensor._indices(), tensor._values()
    if tensor.layout in _BY_ROWS:
        return tensor.crow_indices(), tensor.col_indices(), tensor.values()
    if tensor.layout in _COMPRESSED:
        return tensor.ccol_indices(), tensor.row_indices(), tensor.values()
    raise lacking(str(tensor.layout).removeprefix("torch._"))


def _of_parts(model: Tensor, view: Callable[[Tensor], Tensor]) -> Tensor:
    """Return a sparse or nested tensor like `model` of its parts as `view` gives them."""
    moved = [view(part) for part in parts(model)]
    if model.is_nested:
        return _nested(
            _NESTED[moved[0].device.type],
            moved[0],
            model._nested_tensor_size(),
            model._nested_tensor_strides(),
            model._nested_tensor_storage_offsets(),
        )
    options = {"dtype": model.dtype, "layout": model.layout, "device": moved[-1].device}
    if model.layout in _COMPRESSED:
        return _sparse_compressed(*moved, model.shape, **options)
    return _sparse_coo(
        _SPARSE_CPU,
        model.sparse_dim(),
        model.dense_dim(),
        model.shape,
        *moved,
        is_coalesced=model.is_coalesced(),
        **options,
    )


def adopt(device: Tensor, source: Tensor) -> None:
    """Let `device` use the storage and the sizes of `source`, another device tensor."""
    _set_on_host(
        _CPU,
        device,
        source.untyped_storage(),
        source.storage_offset(),
        source.size(),
        source.stride(),
    )


def set_storage_offset(
    device: Tensor, storage: Any, offset: int, size: Sequence[int], stride: Sequence[int]
) -> Tensor:
    """Let `device` be this part of a storage."""
    _set_on_host(_CPU, device, storage, offset, size, stride)
    return device


def close(reason: str) -> None:
    """Refuse all use of the accelerator from now on: this process was forked, or it failed."""
    global _from_capsule
    MEMORY.stop()

    def refuse(capsule: Any) -> Tensor:
        error: Any = getattr(torch, "AcceleratorError", RuntimeError)
        raise error(reason)

    _from_capsule = refuse
