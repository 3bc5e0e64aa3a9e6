"""What a program asks CUDA to refuse, or CUDA refuses although the numbers would be right.

Hidden waits (`torch.cuda.set_sync_debug_mode`), operations without a deterministic kernel
(`torch.use_deterministic_algorithms`), and, where the user wants it, indices out of bounds, which
end all use of the device for the rest of the process.
"""

from __future__ import annotations

import functools
import os
import re
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

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


class _Unsteady(NamedTuple):
    """An operation whose CUDA kernel gives another result from run to run."""

    asks: str  # the name under which the kernel asks whether it may run
    listed: str = ""  # what the docstring of torch.use_deterministic_algorithms calls it
    when: Callable[[tuple[Any, ...], dict[str, Any]], bool] = lambda args, kwargs: True


def _has(at: int, name: str, *values: Any) -> Callable[[tuple[Any, ...], dict[str, Any]], bool]:
    """Return a test of one argument: that it is given, or that it is one of `values`."""

    def has(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        value = args[at] if len(args) > at else kwargs.get(name)
        return value in values if values else value is not None

    return has


_MAXIMUM = 2  # the number of embedding_bag's mode "max"
_NONDETERMINISTIC = {
    "adaptive_max_pool2d_backward": _Unsteady(
        "adaptive_max_pool2d_backward_cuda", "AdaptiveMaxPool2d"
    ),
    "_adaptive_avg_pool2d_backward": _Unsteady(
        "adaptive_avg_pool2d_backward_cuda", "AdaptiveAvgPool2d"
    ),
    "_adaptive_avg_pool3d_backward": _Unsteady(
        "adaptive_avg_pool3d_backward_cuda", "AdaptiveAvgPool3d"
    ),
    "avg_pool3d_backward": _Unsteady("avg_pool3d_backward_cuda", "AvgPool3d"),
    "max_pool3d_with_indices_backward": _Unsteady(
        "max_pool3d_with_indices_backward_cuda", "MaxPool3d"
    ),
    "fractional_max_pool2d_backward": _Unsteady(
        "fractional_max_pool2d_backward_cuda", "FractionalMaxPool2d"
    ),
    "fractional_max_pool3d_backward": _Unsteady(
        "fractional_max_pool3d_backward_cuda", "FractionalMaxPool3d"
    ),
    "_ctc_loss_backward": _Unsteady("ctc_loss_backward_gpu", "CTCLoss"),
    "upsample_linear1d_backward": _Unsteady("upsample_linear1d_backward_out_cuda", "interpolate"),
    "upsample_bilinear2d_backward": _Unsteady(
        "upsample_bilinear2d_backward_out_cuda", "interpolate"
    ),
    "upsample_bicubic2d_backward": _Unsteady("upsample_bicubic2d_backward_out_cuda", "interpolate"),
    "upsample_trilinear3d_backward": _Unsteady(
        "upsample_trilinear3d_backward_out_cuda", "interpolate"
    ),
    "reflection_pad1d_backward": _Unsteady("reflection_pad1d_backward_out_cuda", "ReflectionPad1d"),
    "reflection_pad3d_backward": _Unsteady("reflection_pad3d_backward_out_cuda", "ReflectionPad3d"),
    "replication_pad1d_backward": _Unsteady("replication_pad1d_backward_cuda"),
    "replication_pad2d_backward": _Unsteady("replication_pad2d_backward_cuda"),
    "replication_pad3d_backward": _Unsteady("replication_pad3d_backward_cuda"),
    "grid_sampler_2d_backward": _Unsteady("grid_sampler_2d_backward_cuda", "grid_sample"),
    "grid_sampler_3d_backward": _Unsteady("grid_sampler_3d_backward_cuda", "grid_sample"),
    "nll_loss2d_forward": _Unsteady("nll_loss2d_forward_out_cuda_template", "NLLLoss"),
    "max_unpool2d": _Unsteady("max_unpooling2d_forward_out", "MaxUnpool2d"),
    "max_unpool3d": _Unsteady("max_unpooling3d_forward_out", "MaxUnpool3d"),
    "histc": _Unsteady("_histc_cuda", "histc"),
    "kthvalue": _Unsteady("kthvalue CUDA"),
    "put": _Unsteady("put_", "put_"),
    "bincount": _Unsteady("_bincount_cuda", "bincount", _has(1, "weights")),
    "median": _Unsteady("median CUDA with indices output", "median", _has(1, "dim")),
    "nanmedian": _Unsteady("median CUDA with indices output", "median", _has(1, "dim")),
    "scatter": _Unsteady("scatter_reduce_cuda_kernel", "", _has(4, "reduce")),
    "scatter_reduce": _Unsteady(
        "scatter_reduce_cuda_prod_", "scatter_reduce", _has(4, "reduce", "prod")
    ),
    "_embedding_bag_backward": _Unsteady(
        "embedding_bag_backward_cuda_max", "EmbeddingBag", _has(8, "mode", _MAXIMUM)
    ),
    "_embedding_bag_dense_backward": _Unsteady(
        "embedding_bag_backward_cuda_max", "EmbeddingBag", _has(7, "mode", _MAXIMUM)
    ),
}

# Products of matrices, which ask cuBLAS; and what cuBLAS has to be told for the same result.
_PRODUCTS = frozenset(["mm", "bmm", "addmm", "baddbmm", "addbmm", "addmv", "mv"])
_WORKSPACES = ":4096:8", ":16:8"
_CUBLAS = (
    "Deterministic behavior was enabled with either `torch.use_deterministic_algorithms(True)` or "
    "`at::Context::setDeterministicAlgorithms(true)`, but this operation is not deterministic "
    "because it uses CuBLAS and you have CUDA >= 10.2. To enable deterministic behavior in this "
    "case, you must set an environment variable before running your PyTorch application: "
    "CUBLAS_WORKSPACE_CONFIG=:4096:8 or CUBLAS_WORKSPACE_CONFIG=:16:8. For more information, go to "
    "https://docs.nvidia.com/cuda/cublas/index.html#results-reproducibility"
)

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


def waits(name: str) -> bool:
    """Tell whether an operation may be refused in a mode that is asked for at each call."""
    return name in _WAITING or name in _MASKING or (name in _INDEXING and STATE.asserts)


def strictly(name: str, kernel: Kernel) -> Kernel:
    """Return the kernel of an operation with what it may refuse for these reasons."""
    if name in _WAITING:
        kernel = _waiting(kernel, lambda args: True)
    elif name in _MASKING:
        kernel = _waiting(kernel, _has_mask)
    unsteady = _NONDETERMINISTIC.get(name) or _NONDETERMINISTIC.get(name.removesuffix("_"))
    if unsteady is not None and _is_listed(unsteady.listed):
        kernel = _alerting(kernel, unsteady)
    if name.removesuffix("_") in _PRODUCTS:
        kernel = _configured(kernel)
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


def _is_listed(name: str) -> bool:
    """Tell whether this release of torch says that an operation has no deterministic kernel."""
    said = torch.use_deterministic_algorithms.__doc__ or ""
    said = said.partition("operations will throw")[2].partition("In addition")[0]
    return not name or not said or re.search(rf"\b{name}\b", said) is not None


def _alerting(kernel: Kernel, unsteady: _Unsteady) -> Kernel:
    wanted = torch.are_deterministic_algorithms_enabled
    start = f"{unsteady.asks} does not have a deterministic implementation, but you set "
    end = (
        "https://github.com/pytorch/pytorch/issues to help us prioritize adding deterministic "
        "support for this operation."
    )
    refusal = (
        f"{start}'torch.use_deterministic_algorithms(True)'. You can turn off determinism just for "
        "this operation, or you can use the 'warn_only=True' option, if that's acceptable for your "
        f"application. You can also file an issue at {end}"
    )
    warning = (
        f"{start}'torch.use_deterministic_algorithms(True, warn_only=True)'. You can file an issue "
        f"at {end}"
    )

    @functools.wraps(kernel)
    def alerting(*args: Any, **kwargs: Any) -> Any:
        if wanted() and unsteady.when(args, kwargs):
            _alert(refusal, warning)
        return kernel(*args, **kwargs)

    return alerting


def _alert(refusal: str, warning: str) -> None:
    if not torch.is_deterministic_algorithms_warn_only_enabled():
        raise RuntimeError(refusal)
    warnings.warn(warning, UserWarning, stacklevel=3)


def _configured(kernel: Kernel) -> Kernel:
    """Return a product's kernel that asks first whether cuBLAS was told to be deterministic."""
    wanted = torch.are_deterministic_algorithms_enabled

    @functools.wraps(kernel)
    def configured(*args: Any, **kwargs: Any) -> Any:
        if wanted() and not _is_configured() and not _adds_a_bias(args):
            _alert(_CUBLAS, _CUBLAS)
        return kernel(*args, **kwargs)

    return configured


@functools.cache  # as CUDA's side of torch, which reads it once
def _is_configured() -> bool:
    return os.environ.get("CUBLAS_WORKSPACE_CONFIG") in _WORKSPACES


def _adds_a_bias(args: tuple[Any, ...]) -> bool:
    """Tell whether a product is that of a linear layer, which another library computes."""
    if len(args) < 3 or not all(isinstance(operand, Tensor) for operand in args[:3]):
        return False
    bias, _, weight = args[:3]
    return bool(bias.dim() == 1 and weight.dim() == 2 and min(weight.shape) > 1)


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
