"""Where a GPU machine stops when the operands of one operation are in two places, and what it says.

torch generates the check of every CUDA kernel from `native_functions.yaml`, which its wheel ships:
by default all tensors must be on one device; `device_check: NoCheck` hands the decision to the
kernel. Most of those are elementwise, and for them one 0-dim host tensor is a scalar. The few that
decide otherwise are named here.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import torch
from torch import Tensor

from samedevice.prove.virtual.state import STATE


class Operand(NamedTuple):
    """A tensor of a call: its parameter's name, and whether the operation writes to it."""

    name: str
    tensor: Tensor
    written: bool


class Declared(NamedTuple):
    """Sets of operations, named with their overloads."""

    unchecked: frozenset[str]  # their kernels check devices themselves, or not at all
    structured: frozenset[str]  # their wrappers are named in another way
    host_only: frozenset[str]  # CUDA has no kernel for them


# Kernels that accept operands in several places.
_ANYWHERE = frozenset(
    ["copy_", "fill_", "_copy_from", "_to_copy", "is_set_to", "is_same_size", "resize_as_"]
)
# Kernels that take every 0-dim host tensor for a scalar, however many there are.
_ANY_SCALARS = frozenset(["where"])
# Kernels that read their index tensors on the host too, if the indexed one is on the device.
_INDEXING = frozenset(["index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index"])

_INTEGERS = {
    torch.uint8: "Byte",
    torch.int8: "Char",
    torch.int16: "Short",
    torch.int32: "Int",
    torch.int64: "Long",
    torch.bool: "Bool",
}
# Products that cuBLAS has for floating-point numbers only, under the name that the refusal uses.
_FLOAT_ONLY = {
    **dict.fromkeys(["mm", "addmm", "addmm_"], "addmm_cuda"),
    **dict.fromkeys(["bmm", "baddbmm", "baddbmm_", "addbmm", "addbmm_"], "baddbmm_cuda"),
    **dict.fromkeys(["mv", "addmv", "addmv_"], "addmv_impl_cuda"),
    "dot": "dot",
    "vdot": "vdot",
}


@functools.cache
def declared() -> Declared:
    """Read torch's declarations of its operations.

    Raises RuntimeError if this torch does not ship them.
    """
    try:
        path = (
            Path(torch.__file__).parent.parent
            / "torchgen"
            / "packaged/ATen/native/native_functions.yaml"
        )
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise RuntimeError(f"this torch does not ship native_functions.yaml: {error}") from None
    unchecked, structured, host_only = set(), set(), set()
    for entry in re.split(r"^- func: ", text, flags=re.MULTILINE)[1:]:
        name = entry[: entry.index("(")]
        if re.search(r"^  device_check: NoCheck", entry, re.MULTILINE):
            unchecked.add(name)
        if re.search(r"^  structured(_delegate)?:", entry, re.MULTILINE):
            structured.add(name)
        dispatch = re.search(r"^  dispatch:\n((?:    .*\n)+)", entry, re.MULTILINE)
        if dispatch is not None:
            keys = set(re.findall(r"\w+(?=[\w, ]*:)", dispatch[1]))
            if "CPU" in keys and "CUDA" not in keys and not any("Composite" in key for key in keys):
                host_only.add(name)
    return Declared(frozenset(unchecked), frozenset(structured), frozenset(host_only))


def full_name(schema: Any) -> str:
    """Return an operation's name as torch declares it: `add.Tensor`, `mm`."""
    name = str(schema.name).rpartition("::")[2]
    return f"{name}.{schema.overload_name}" if schema.overload_name else name


def operands(schema: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Iterator[Operand]:
    """Yield the tensors of a call in the order of its schema; those of a list share a name."""
    for position, parameter in enumerate(schema.arguments):
        if position < len(args):
            value = args[position]
        elif parameter.name in kwargs:
            value = kwargs[parameter.name]
        else:
            continue
        written = parameter.alias_info is not None and parameter.alias_info.is_write
        for item in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(item, Tensor):
                yield Operand(parameter.name, item, written)


def mixed(op: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """Decide over a call whose tensors are not all on one device.

    Raises RuntimeError with the words of a GPU machine unless such a machine would go on.
    """
    schema = op._schema
    name = str(schema.name).rpartition("::")[2]
    if name in _ANYWHERE or name.startswith(("_foreach_", "_fused_", "_amp_")):
        return
    given = list(operands(schema, args, kwargs))
    if name in _INDEXING:
        _check_indexing(given)
        return
    given.sort(key=lambda operand: not operand.written)  # results come first
    if name in ("masked_fill", "masked_fill_"):
        _check_mask(given)
    elif full_name(schema) in declared().unchecked:
        _check_elementwise(given, len(given) if name in _ANY_SCALARS else 1)
    elif STATE.device_type == "mps":
        raise RuntimeError("Placeholder storage has not been allocated on MPS device!")
    else:
        check_common(given, _method(schema))


def unsupported(name: str, dtype: torch.dtype) -> None:
    """Refuse what the device has no kernel for although the host has: products of integers."""
    if dtype in _INTEGERS:
        raise NotImplementedError(
            f"\"{_FLOAT_ONLY[name]}\" not implemented for '{_INTEGERS[dtype]}'"
        )


def is_float_only(name: str) -> bool:
    """Tell whether `unsupported` has something to say about an operation."""
    return name in _FLOAT_ONLY


def check_common(given: Sequence[Operand], method: str) -> None:
    """Refuse operands that are not on the device of the first one."""
    common = given[0].tensor.device
    for name, tensor, _ in given:
        if tensor.device != common:
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but got {name} is on "
                f"{tensor.device}, different from other tensors on {common} "
                f"(when checking argument in method {method})"
            )


def _method(schema: Any) -> str:
    name, overload = schema.name.rpartition("::")[2], schema.overload_name
    wrapper = f"wrapper_{STATE.device_type.upper()}"
    if full_name(schema) in declared().structured:
        return f"{wrapper}_{name}_{overload}" if overload else f"{wrapper}_{name}"
    return f"{wrapper}_{overload}_{name}"


def _check_elementwise(given: Sequence[Operand], scalars: int) -> None:
    devices = [operand.tensor.device for operand in given]
    common = next((device for device in devices if device.type != "cpu"), devices[0])
    for _, tensor, written in given:
        if tensor.device == common:
            continue
        if tensor.device.type == "cpu" and tensor.dim() == 0 and not written and scalars:
            scalars -= 1
            continue
        _two_devices(common, tensor.device)


def _two_devices(common: torch.device, other: torch.device) -> NoReturn:
    raise RuntimeError(
        "Expected all tensors to be on the same device, but found at least two devices, "
        f"{common} and {other}!"
    )


def _check_mask(given: Sequence[Operand]) -> None:
    self, mask, *value = (operand.tensor for operand in given)
    if self.device != mask.device:
        raise RuntimeError(
            "expected self and mask to be on the same device, but got mask on "
            f"{mask.device} and self on {self.device}"
        )
    if self.device.type == "cpu":
        raise RuntimeError("masked_fill_: Expected inputs to be on same device")


def _check_indexing(given: Sequence[Operand]) -> None:
    indexed = given[0].tensor.device
    for name, tensor, _ in given[1:]:
        if tensor.device == indexed:
            continue
        if name == "indices" and tensor.device.type != "cpu":
            raise RuntimeError(
                "indices should be either on cpu or on the same device as the indexed tensor "
                f"({indexed})"
            )
        if name != "indices" and (tensor.dim() or indexed.type == "cpu"):
            _two_devices(
                *((tensor.device, indexed) if indexed.type == "cpu" else (indexed, tensor.device))
            )
