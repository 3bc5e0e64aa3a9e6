"""What a program asks CUDA to refuse, or CUDA refuses although the numbers would be right.

Hidden waits (`torch.cuda.set_sync_debug_mode`), operations without a deterministic kernel
(`torch.use_deterministic_algorithms`), and, where the user wants it, indices out of bounds, which
end all use of the device for the rest of the process.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from samedevice.prove.virtual import bridge
from samedevice.prove.virtual.state import STATE

Kernel = Callable[..., Any]

_WAITS = "called a synchronizing CUDA operation"
_MODES = "default", "warn", "error"

# Operations whose result has a size, or is a value, that the host has to wait for.
_WAITING = frozenset(
    [
        "equal",
        "nonzero",
        "masked_select",
        "_unique",
        "_unique2",
        "unique_dim",
        "unique_consecutive",
        "unique_dim_consecutive",
        "repeat_interleave",
        "bincount",
        "_local_scalar_dense",
    ]
)
_MASKING = frozenset(["index", "index_put_", "_index_put_impl_"])  # where an index is a mask

# The name under which CUDA's kernel asks whether it may run, by operation.
_NONDETERMINISTIC = {
    "adaptive_max_pool2d_backward": "adaptive_max_pool2d_backward_cuda",
    "_adaptive_avg_pool2d_backward": "adaptive_avg_pool2d_backward_cuda",
    "_adaptive_avg_pool3d_backward": "adaptive_avg_pool3d_backward_cuda",
    "avg_pool3d_backward": "avg_pool3d_backward_cuda",
    "max_pool3d_with_indices_backward": "max_pool3d_with_indices_backward_cuda",
    "fractional_max_pool2d_backward": "fractional_max_pool2d_backward_cuda",
    "fractional_max_pool3d_backward": "fractional_max_pool3d_backward_cuda",
    "_ctc_loss_backward": "ctc_loss_backward_gpu",
    "upsample_linear1d_backward": "upsample_linear1d_backward_out_cuda",
    "upsample_bilinear2d_backward": "upsample_bilinear2d_backward_out_cuda",
    "upsample_bicubic2d_backward": "upsample_bicubic2d_backward_out_cuda",
    "upsample_trilinear3d_backward": "upsample_trilinear3d_backward_out_cuda",
    "reflection_pad1d_backward": "reflection_pad1d_backward_out_cuda",
    "reflection_pad2d_backward": "reflection_pad2d_backward_cuda",
    "replication_pad1d_backward": "replication_pad1d_backward_cuda",
    "replication_pad2d_backward": "replication_pad2d_backward_cuda",
    "replication_pad3d_backward": "replication_pad3d_backward_cuda",
    "grid_sampler_2d_backward": "grid_sampler_2d_backward_cuda",
    "grid_sampler_3d_backward": "grid_sampler_3d_backward_cuda",
    "nll_loss2d_forward": "nll_loss2d_forward_out_cuda_template",
    "max_unpool2d": "max_unpooling2d_forward_out",
    "max_unpool3d": "max_unpooling3d_forward_out",
    "histc": "_histc_cuda",
    "kthvalue": "kthvalue CUDA",
}

# Operations whose kernels on a GPU assert that indices are in bounds.
_INDEXING = frozenset(
    [
        "index",
        "_index_put_impl_",
        "index_select",
        "embedding",
        "_embedding_bag",
        "gather",
        "scatter",
        "scatter_",
        "scatter_add",
        "scatter_add_",
        "take",
        "nll_loss_forward",
        "nll_loss2d_forward",
    ]
)
_OUTSIDE = "out of range", "out of bounds"
_ASSERTED = (
    "CUDA error: device-side assert triggered\n"
    "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace "
    "below might be incorrect.\n"
    "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
    "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"
)


def wait() -> None:
    """Report that the host waits for the device, in the way that the program chose.

    Raises RuntimeError in the mode "error".
    """
    if STATE.sync_mode == 2:
        raise RuntimeError(_WAITS)
    warnings.warn(_WAITS, UserWarning, stacklevel=2)


def set_sync_mode(mode: int) -> None:
    """Choose what `wait` does: 0 nothing, 1 a warning, 2 an error."""
    STATE.sync_mode = mode


def sync_mode() -> int:
    """Return what was chosen."""
    return STATE.sync_mode


def strictly(name: str, kernel: Kernel) -> Kernel:
    """Return the kernel of an operation with what it may refuse for these reasons."""
    if name in _WAITING:
        kernel = _waiting(kernel, lambda args: True)
    elif name in _MASKING:
        kernel = _waiting(kernel, _has_mask)
    if name in _NONDETERMINISTIC:
        kernel = _alerting(kernel, _NONDETERMINISTIC[name])
    if name in _INDEXING and STATE.asserts:
        kernel = _asserting(kernel)
    return kernel


def _has_mask(args: tuple[Any, ...]) -> bool:
    return any(
        isinstance(index, Tensor) and index.dtype in (torch.bool, torch.uint8)
        for index in args[1] or ()
    )


def _waiting(kernel: Kernel, waits: Callable[[tuple[Any, ...]], bool]) -> Kernel:
    @functools.wraps(kernel)
    def waiting(*args: Any, **kwargs: Any) -> Any:
        if STATE.sync_mode and waits(args):
            wait()
        return kernel(*args, **kwargs)

    return waiting


def _alerting(kernel: Kernel, caller: str) -> Kernel:
    wanted = torch.are_deterministic_algorithms_enabled
    only_warn = torch.is_deterministic_algorithms_warn_only_enabled

    @functools.wraps(kernel)
    def alerting(*args: Any, **kwargs: Any) -> Any:
        if wanted():
            ours = "https://github.com/pytorch/pytorch/issues to help us prioritize adding "
            end = f"{ours}deterministic support for this operation."
            start = f"{caller} does not have a deterministic implementation, but you set "
            if not only_warn():
                raise RuntimeError(
                    f"{start}'torch.use_deterministic_algorithms(True)'. You can turn off "
                    "determinism just for this operation, or you can use the 'warn_only=True' "
                    f"option, if that's acceptable for your application. You can also file an "
                    f"issue at {end}"
                )
            warnings.warn(
                f"{start}'torch.use_deterministic_algorithms(True, warn_only=True)'. You can file "
                f"an issue at {end}",
                UserWarning,
                stacklevel=2,
            )
        return kernel(*args, **kwargs)

    return alerting


def _asserting(kernel: Kernel) -> Kernel:
    @functools.wraps(kernel)
    def asserting(*args: Any, **kwargs: Any) -> Any:
        try:
            return kernel(*args, **kwargs)
        except (IndexError, RuntimeError) as error:
            if not any(words in str(error) for words in _OUTSIDE):
                raise
        bridge.close(_ASSERTED)
        error_type: Any = getattr(torch, "AcceleratorError", RuntimeError)
        raise error_type(_ASSERTED)

    return asserting
