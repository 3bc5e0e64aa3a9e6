"""Where a GPU machine stops when the operands of one operation are in two places, and what it says.

torch generates the check of every CUDA kernel from `native_functions.yaml`, which its wheel ships:
by default all tensors must be on one device; `device_check: NoCheck` hands the decision to the
kernel. Most of those are elementwise, and for them 0-dim host tensors are scalars. The few that
decide otherwise are named here.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

Tensor = torch.Tensor
Operand = tuple[str, Tensor, bool]  # the parameter's name, what was given, whether it is written

# Kernels that accept operands in several places.
_ANYWHERE = frozenset(
    "copy_ _copy_from _copy_from_and_resize _to_copy set_ _local_scalar_dense item equal "
    "is_set_to record_stream resize_ resize_as_ _resize_output_ is_pinned is_same_size "
    "_has_compatible_shallow_copy_type _nested_tensor_from_tensor_list".split()
)
# Kernels that take every 0-dim host tensor for a scalar, however many there are.
_ANY_SCALARS = frozenset(["where", "masked_fill", "masked_fill_", "fill_", "fill"])
# Kernels that read their index tensors wherever these are, if the indexed one is on the device.
_INDEXING = frozenset(["index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index"])

_INTEGERS = frozenset([torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool])
_DTYPE_NAMES = {
    torch.uint8: "Byte",
    torch.int8: "Char",
    torch.int16: "Short",
    torch.int32: "Int",
    torch.int64: "Long",
    torch.bool: "Bool",
}
# Products that cuBLAS has for floating-point numbers only, under the name that the refusal uses.
_FLOAT_ONLY = {
    "mm": "addmm_cuda",
    "addmm": "addmm_cuda",
    "addmm_": "addmm_cuda",
    "bmm": "baddbmm_cuda",
    "baddbmm": "baddbmm_cuda",
    "baddbmm_": "baddbmm_cuda",
    "addbmm": "baddbmm_cuda",
    "mv": "addmv_impl_cuda",
    "addmv": "addmv_impl_cuda",
    "addmv_": "addmv_impl_cuda",
    "dot": "dot",
    "vdot": "vdot",
}


@functools.cache
def _declared() -> tuple[frozenset[str], frozenset[str]]:
    """Read which operations check no devices before their kernel, and which are structured."""
    import torchgen

    path = Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml"
    unchecked, structured = set(), set()
    for entry in re.split(r"^- func: ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name = entry[: entry.index("(")]
        if re.search(r"^  device_check: NoCheck", entry, flags=re.MULTILINE):
            unchecked.add(name)
        if re.search(r"^  structured(_delegate)?:", entry, flags=re.MULTILINE):
            structured.add(name)
    return frozenset(unchecked), frozenset(structured)


def operands(schema: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Iterator[Operand]:
    """Yield the tensors of a call in the order of its schema; those of a list share a name."""
    for position, parameter in enumerate(schema.arguments):
        if position < len(args):
            value = args[position]
        elif parameter.name in kwargs:
            value = kwargs[parameter.name]
        else:
            continue
        alias = parameter.alias_info
        written = alias is not None and alias.is_write
        if isinstance(value, Tensor):
            yield parameter.name, value, written
        elif isinstance(value, (list, tuple)):
            for item in value:
                if isinstance(item, Tensor):
                    yield parameter.name, item, written


def mixed(op: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """Decide over a call whose tensors are not all on one device.

    Raises RuntimeError with the words of a GPU machine unless such a machine would go on.
    """
    schema = op._schema
    name, overload = schema.name.removeprefix("aten::"), schema.overload_name
    if name in _ANYWHERE:
        return
    given = list(operands(schema, args, kwargs))
    if name in _INDEXING:
        _check_indexing(given)
        return
    full = f"{name}.{overload}" if overload else name
    if full in _declared()[0]:
        scalars = len(given) if name in _ANY_SCALARS else 1
        _check_elementwise(given, scalars)
    else:
        _check_common(given, _method(name, overload))


def unsupported(name: str, dtype: torch.dtype) -> None:
    """Refuse what the device has no kernel for although the host has (integer products)."""
    kernel = _FLOAT_ONLY.get(name)
    if kernel is not None and dtype in _INTEGERS:
        raise NotImplementedError(f'"{kernel}" not implemented for \'{_DTYPE_NAMES[dtype]}\'')


def is_float_only(name: str) -> bool:
    """Tell whether `unsupported` has something to say about an operation."""
    return name in _FLOAT_ONLY


def _method(name: str, overload: str) -> str:
    full = f"{name}.{overload}" if overload else name
    if full in _declared()[1]:
        return f"wrapper_CUDA_{name}_{overload}" if overload else f"wrapper_CUDA_{name}"
    return f"wrapper_CUDA_{overload}_{name}"


def _check_common(given: Sequence[Operand], method: str) -> None:
    common = given[0][1].device
    for parameter, tensor, _ in given:
        if tensor.device != common:
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but got {parameter} is on "
                f"{tensor.device}, different from other tensors on {common} "
                f"(when checking argument in method {method})"
            )


def _check_elementwise(given: Sequence[Operand], scalars: int) -> None:
    given = sorted(given, key=lambda operand: not operand[2])  # results come first
    devices = [tensor.device for _, tensor, _ in given]
    common = next((device for device in devices if device.type != "cpu"), devices[0])
    for _, tensor, written in given:
        if tensor.device == common:
            continue
        if tensor.device.type == "cpu" and tensor.dim() == 0 and not written and scalars:
            scalars -= 1
            continue
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"{common} and {tensor.device}!"
        )


def _check_indexing(given: Sequence[Operand]) -> None:
    indexed = given[0][1]
    for parameter, tensor, _ in given[1:]:
        if parameter == "indices" and tensor.device not in (indexed.device, torch.device("cpu")):
            raise RuntimeError(
                "indices should be either on cpu or on the same device as the indexed tensor "
                f"({indexed.device})"
            )
        if parameter == "values" and tensor.device != indexed.device and tensor.dim():
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, "
                f"{indexed.device} and {tensor.device}!"
            )
