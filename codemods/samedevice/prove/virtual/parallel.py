"""The C++ half of `torch.nn.parallel.comm`: scatter, gather and broadcast between devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from samedevice.prove.virtual.patches import Patches
from samedevice.prove.virtual.state import STATE


def _device(index: int) -> torch.device:
    return torch.device("cpu") if index < 0 else torch.device(STATE.device_type, index)


def _broadcast(tensor: Tensor, devices: Sequence[int]) -> list[Tensor]:
    return [tensor.to(_device(index)) for index in devices]


def _broadcast_out(tensor: Tensor, out: Sequence[Tensor]) -> list[Tensor]:
    return [target.copy_(tensor) for target in out]


def _broadcast_coalesced(
    tensors: Sequence[Tensor], devices: Sequence[int], size: int
) -> list[list[Tensor]]:
    if any(tensor.device != _device(devices[0]) for tensor in tensors):
        raise RuntimeError("all tensors must be on devices[0]: " + str(devices[0]))
    return [[tensor.to(_device(index)) for tensor in tensors] for index in devices]


def _scatter(
    tensor: Tensor, devices: Sequence[int], sizes: Any, dim: int, streams: Any = None
) -> list[Tensor]:
    parts = tensor.split(sizes, dim) if sizes else tensor.chunk(len(devices), dim)
    return [part.to(_device(index)) for part, index in zip(parts, devices, strict=True)]


def _scatter_out(
    tensor: Tensor, out: Sequence[Tensor], dim: int, streams: Any = None
) -> list[Tensor]:
    parts = tensor.split([target.size(dim) for target in out], dim)
    return [target.copy_(part) for target, part in zip(out, parts, strict=True)]


def _gather(tensors: Sequence[Tensor], dim: int, destination: Any = None) -> Tensor:
    index = STATE.current() if destination is None else destination
    return torch.cat([tensor.to(_device(index)) for tensor in tensors], dim)


def _gather_out(tensors: Sequence[Tensor], out: Tensor, dim: int) -> Tensor:
    return out.copy_(torch.cat([tensor.to(out.device) for tensor in tensors], dim))


def install(patches: Patches) -> None:
    """Give torch what `DataParallel` needs of its C++ half."""
    for function in (
        _broadcast,
        _broadcast_out,
        _broadcast_coalesced,
        _scatter,
        _scatter_out,
        _gather,
        _gather_out,
    ):
        patches.set(torch._C, function.__name__, function)
