"""Types of numbers that a kernel has on one side only: on the host, or on a GPU.

The pairs are those in which `dtypes` and `dtypesIfCUDA` of torch's own OpInfo differ (for a GPU of
compute capability 8.0). What CUDA lacks is refused, under the name that its kernel has in torch's
sources. What the CPU lacks is computed in a wider type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

SCALAR_TYPES = {  # as C++ calls them
    torch.uint8: "Byte",
    torch.int8: "Char",
    torch.int16: "Short",
    torch.int32: "Int",
    torch.int64: "Long",
    torch.bool: "Bool",
    torch.float16: "Half",
    torch.bfloat16: "BFloat16",
    torch.float32: "Float",
    torch.float64: "Double",
}
_NUMBERS = frozenset([torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64])
_INTEGERS = _NUMBERS | {torch.bool}
_HALVES = frozenset([torch.float16, torch.bfloat16])
_BYTES = frozenset([torch.uint8])


class Lacking(NamedTuple):
    """A kernel of CUDA, as its refusal names it, and the types that it does not have."""

    kernel: str
    dtypes: frozenset[torch.dtype]


_POOLS = {
    "avg_pool2d": "avg_pool2d_out_cuda_frame",
    "avg_pool3d": "avg_pool3d_out_cuda",
    "max_pool2d_with_indices": "max_pool2d_with_indices_out_cuda_frame",
    "max_pool3d_with_indices": "max_pool3d_with_indices_out_frame",
}
_UPSAMPLING = {
    "upsample_bilinear2d": "upsample_bilinear2d_out_frame",
    "_upsample_bilinear2d_aa": "upsample_bilinear2d_out_frame",
    "upsample_bicubic2d": "upsample_bicubic2d_out_frame",
}
LACKING: dict[str, Lacking] = {
    # cuBLAS multiplies floating-point numbers only
    **dict.fromkeys(["mm", "addmm", "addmm_"], Lacking("addmm_cuda", _INTEGERS)),
    **dict.fromkeys(
        ["bmm", "baddbmm", "baddbmm_", "addbmm", "addbmm_"], Lacking("baddbmm_cuda", _INTEGERS)
    ),
    **dict.fromkeys(["mv", "addmv", "addmv_"], Lacking("addmv_impl_cuda", _INTEGERS)),
    "dot": Lacking("dot", _INTEGERS),
    "vdot": Lacking("vdot", _INTEGERS),
    **{name: Lacking(kernel, _NUMBERS) for name, kernel in _POOLS.items()},
    **{name: Lacking(kernel, _BYTES) for name, kernel in _UPSAMPLING.items()},
    "igamma": Lacking("igamma_cuda", _HALVES),
    "igammac": Lacking("igammac_cuda", _HALVES),
    "angle": Lacking("angle_cuda", _HALVES),
    "histc": Lacking("histc", _HALVES),
    "native_dropout_backward": Lacking("masked_scale", _INTEGERS),
}

_WIDE = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.complex32: torch.complex64,
}
_NARROW = {torch.float32: torch.float16, torch.complex64: torch.complex32}
_FLOATS = [
    "avg_pool3d",
    "avg_pool3d_backward",
    "_upsample_bilinear2d_aa",
    "_upsample_bilinear2d_aa_backward",
    "multi_margin_loss",
    "multi_margin_loss_backward",
    "multilabel_margin_loss_forward",
    "multilabel_margin_loss_backward",
    "rrelu_with_noise",
    "rrelu_with_noise_backward",
]
_COMPLEX = [
    *["acos", "acosh", "angle", "asin", "asinh", "atan", "atanh", "cos", "cosh", "div", "exp"],
    *["lerp", "log", "logaddexp", "pow", "prod", "rsqrt", "sigmoid", "sin", "sinh", "sqrt"],
    *["sum", "tan", "tanh", "trace"],
]
_FFT = ["_fft_c2c", "_fft_c2r", "_fft_r2c"]
# What the CPU's kernel takes instead, by the type that it lacks.
_WIDER: dict[str, dict[torch.dtype, torch.dtype]] = {
    **dict.fromkeys(_FLOATS, _WIDE),
    **dict.fromkeys(_COMPLEX, {torch.complex32: torch.complex64}),
    **dict.fromkeys(_FFT, _WIDE),
    "abs": {torch.bool: torch.uint8},
    "trace": {torch.bool: torch.int64, torch.complex32: torch.complex64},
    "histc": dict.fromkeys(_NUMBERS, torch.float64),
}
_SUMS = frozenset(["trace"])  # whose result for booleans is a count


def is_widened(name: str) -> bool:
    """Tell whether an operation is computed in a wider type for some types of numbers."""
    return name in _WIDER


def refuse(lacking: Lacking, dtype: torch.dtype) -> None:
    """Raise what CUDA raises if a kernel of it lacks `dtype`."""
    if dtype in lacking.dtypes:
        raise NotImplementedError(
            f"\"{lacking.kernel}\" not implemented for '{SCALAR_TYPES[dtype]}'"
        )


def widening(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """Return what calls the CPU's kernel of an operation, in a wider type where it lacks one."""
    wider = _WIDER.get(name)
    if wider is None:
        return call

    def widened(*args: Any, **kwargs: Any) -> Any:
        given = next((value.dtype for value in args if isinstance(value, Tensor)), None)
        if given not in wider:
            return call(*args, **kwargs)
        try:
            return call(*args, **kwargs)
        except RuntimeError as error:
            if "not implemented for" not in str(error) and "MKL FFT doesn't" not in str(error):
                raise
        if name in _FFT:
            _check_sizes(args[0], args[1], args[3] if name == "_fft_c2r" else 0)

        def wide(value: Any) -> Any:
            if isinstance(value, Tensor) and value.dtype in wider:
                return value.to(wider[value.dtype])
            return value

        results = call(*map(wide, args), **{key: wide(value) for key, value in kwargs.items()})
        back = {wider[given]: given}
        if given in (torch.float16, torch.complex32):
            back = _NARROW
        elif name in _SUMS:
            back = {}
        if isinstance(results, Tensor):
            return results.to(back.get(results.dtype, results.dtype))
        return tuple(result.to(back.get(result.dtype, result.dtype)) for result in results)

    return widened


def _check_sizes(signal: Tensor, dims: Sequence[int], last: int) -> None:
    """Raise what cuFFT's front raises for numbers of half precision.

    `last` is the size that the last of `dims` will have, if that is more.
    """
    sizes = [signal.shape[dim] for dim in dims]
    sizes[-1] = max(sizes[-1], last)
    if any(size & (size - 1) for size in sizes):
        raise RuntimeError(
            "cuFFT only supports dimensions whose sizes are powers of two when computing in half "
            f"precision, but got a signal size of{sizes}"
        )
