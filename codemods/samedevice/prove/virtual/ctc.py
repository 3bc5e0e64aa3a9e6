"""The connectionist temporal classification, for which CUDA has two kernels: cuDNN's and torch's.

torch's own code asks here which of them serves, and does the rest. Only cuDNN's takes the lengths
as tensors, of 32 bits: then they stay where they are, and a mean over losses on the device is not
taken with lengths on the host. The questions are those of `aten/src/ATen/native/cudnn/LossCTC.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from samedevice.prove.virtual.bridge import to_device, to_host
from samedevice.prove.virtual.calls import Kernel

_aten = torch.ops.aten
_LONGEST = 256  # a target that cuDNN does not take


def ctc_kernels() -> dict[str, Kernel]:
    """Return their kernels by the operations' names."""

    def no(*args: Any) -> bool:
        return False

    return {
        "_use_cudnn_ctc_loss": _takes_numbers,
        "_use_cudnn_ctc_loss.Tensor": _takes_tensors,
        "_use_miopen_ctc_loss": no,
        "_use_miopen_ctc_loss.Tensor": no,
        "_cudnn_ctc_loss": _cudnn,
        "_cudnn_ctc_loss.Tensor": _cudnn_of_tensors,
    }


def _takes(log_probs: Tensor, targets: Tensor, blank: int) -> bool:
    return (
        torch._C._get_cudnn_enabled()
        and blank == 0
        and targets.dim() == 1
        and targets.dtype is torch.int32
        and targets.is_contiguous()
        and log_probs.dtype is torch.float32
        and log_probs.dim() == 3
    )


def _takes_numbers(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    blank: int,
) -> bool:
    return (
        _takes(log_probs, targets, blank)
        and targets.is_cpu
        and all(length == log_probs.size(0) for length in input_lengths)
        and _fit(input_lengths, target_lengths)
    )


def _takes_tensors(
    log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, blank: int
) -> bool:
    if input_lengths.dtype is not torch.int32 or target_lengths.dtype is not torch.int32:
        return False
    return _takes(log_probs, targets, blank) and _fit(
        _numbers(input_lengths), _numbers(target_lengths)
    )


def _fit(input_lengths: Sequence[int], target_lengths: Sequence[int]) -> bool:
    pairs = zip(input_lengths, target_lengths, strict=False)
    return all(target < _LONGEST and target <= length for length, target in pairs)


def _cudnn(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    blank: int,
    deterministic: bool,
    zero_infinity: bool,
) -> tuple[Tensor, Tensor]:
    """Return the losses and their gradient, as the CPU's kernels compute them.

    cuDNN makes probabilities of what it is given by a softmax of its own, and says 0 where nothing
    aligns.
    """
    for name, lengths in (("input", input_lengths), ("target", target_lengths)):
        if len(lengths) != log_probs.size(1):
            raise RuntimeError(f"{name}_lengths needs to have size to match batch_size")
    if targets.is_cuda and targets.device != log_probs.device:
        raise RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED")
    there = to_host(log_probs).log_softmax(2)
    labels = (targets if targets.is_cpu else to_host(targets)).long()
    numbers = list(input_lengths), list(target_lengths)
    losses, alpha = _aten._ctc_loss.default(there, labels, *numbers, blank, False)
    gradient = _aten._ctc_loss_backward.default(
        torch.ones_like(losses), there, labels, *numbers, losses, alpha, blank, True
    )
    losses = losses.masked_fill(losses.isinf(), 0)
    return to_device(losses, log_probs.get_device()), to_device(gradient, log_probs.get_device())


def _cudnn_of_tensors(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int,
    deterministic: bool,
    zero_infinity: bool,
) -> tuple[Tensor, Tensor]:
    if target_lengths.is_cpu and not input_lengths.is_cpu:
        # torch moves both where the first is on the host, and else cuDNN reads memory of the host
        raise RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED")
    return _cudnn(
        log_probs,
        targets,
        _numbers(input_lengths),
        _numbers(target_lengths),
        blank,
        deterministic,
        zero_infinity,
    )


def _numbers(lengths: Tensor) -> list[int]:
    numbers: list[int] = lengths.cpu().reshape(-1).tolist()
    return numbers
