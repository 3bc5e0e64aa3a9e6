"""Where a GPU machine stops when the operands of one operation are in two places, and what it says.

torch is asked itself. Which checks the wrapper of a CUDA kernel makes, in which order and under
which name, is what torchgen generates from `native_functions.yaml`; the wheel ships both. Where
the wrapper makes none (`device_check: NoCheck`), the kernel decides, and of nearly all of these
the half that decides is the same code for the CPU: it is run on the operands as they are, and stops
where CUDA's kernel would begin. What is left, kernels of CUDA that decide in code of their own, is
named here.
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

KINDS = "", "Sparse", "SparseCsr", "NestedTensor"  # of tensors, as in the names of dispatch keys


class Operand(NamedTuple):
    """A tensor of a call: its parameter's name, and whether the operation writes to it."""

    name: str
    tensor: Tensor
    written: bool


class Declared(NamedTuple):
    """Sets of operations, named with their overloads."""

    unchecked: frozenset[str]  # their kernels check devices themselves, or not at all
    shared: frozenset[str]  # the kernel, or the half that looks at its operands, is the CPU's too
    structured: frozenset[str]  # their wrappers are named in another way
    host_only: dict[str, frozenset[str]]  # CUDA has no kernel for them; by kind of tensor
    schemas: dict[str, str]  # as torchgen reads them


# Kernels that accept operands in several places.
_ANYWHERE = frozenset(
    [
        "copy_",
        "fill_",
        "_copy_from",
        "_to_copy",
        "is_set_to",
        "is_same_size",
        "resize_as_",
        "_nested_from_padded",  # whose sizes are on the host
    ]
)


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
    unchecked, shared, structured = set(), set(), set()
    host_only: dict[str, set[str]] = {kind: set() for kind in KINDS}
    schemas = {}
    for entry in re.split(r"^- func: ", text, flags=re.MULTILINE)[1:]:
        schema = entry[: entry.index("\n")]
        name = schema[: schema.index("(")]
        schemas[name] = schema
        kernels = _kernels(entry)
        is_structured = re.search(r"^  structured(_delegate)?:", entry, re.MULTILINE) is not None
        if is_structured:
            structured.add(name)
        if re.search(r"^  device_check: NoCheck", entry, re.MULTILINE):
            unchecked.add(name)
        if is_structured or ("CPU" in kernels and kernels["CPU"] == kernels.get("CUDA")):
            shared.add(name)
        composite = any("Composite" in key for key in kernels)
        for kind, names in host_only.items():
            if f"{kind}CPU" in kernels and f"{kind}CUDA" not in kernels and (kind or not composite):
                names.add(name)
    return Declared(
        frozenset(unchecked),
        frozenset(shared),
        frozenset(structured),
        {kind: frozenset(names) for kind, names in host_only.items()},
        schemas,
    )


def _kernels(entry: str) -> dict[str, str]:
    """Return what is declared under `dispatch`: the name of the kernel, by dispatch key."""
    found = re.search(r"^  dispatch:\n((?:    .*\n)+)", entry, re.MULTILINE)
    kernels: dict[str, str] = {}
    for line in found[1].splitlines() if found is not None else ():
        keys, _, kernel = line.partition("#")[0].partition(":")
        kernels.update((key.strip(), kernel.strip()) for key in keys.split(","))
    return kernels


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
    """Decide about a call whose tensors are not all on one device.

    Raises RuntimeError with the words of a GPU machine unless such a machine would go on.
    """
    schema = op._schema
    name = str(schema.name).rpartition("::")[2]
    full = full_name(schema)
    if name in _ANYWHERE or name.startswith(("_foreach_", "_fused_", "_amp_")):
        return
    given = list(operands(schema, args, kwargs))
    given.sort(key=lambda operand: not operand.written)  # results come first
    if name in ("masked_fill", "masked_fill_"):
        _check_mask(given)
    elif full in declared().unchecked:
        if full in declared().shared:
            _try(op, args, kwargs, given)
        else:
            _check_elementwise(given)
    elif STATE.device_type == "mps":
        raise RuntimeError("Placeholder storage has not been allocated on MPS device!")
    else:
        _check_common(full, schema, args, kwargs)
        if full in declared().shared:  # the wrapper looks at arguments with a position only
            _try(op, args, kwargs, given)


_CPU = torch._C.DispatchKey.CPU
#: In torch's words for: here begins the kernel of another device. A build for CUDA has that kernel,
#: which finds no GPU and no driver.
_BEGINS = "DispatchStub", "CUDA error: "
_passed: set[Any] = set()  # calls that went on, by their operation and the places of their operands


def _try(op: Any, args: Sequence[Any], kwargs: dict[str, Any], given: Sequence[Operand]) -> None:
    """Run what the CPU's kernel has in common with CUDA's on operands in several places.

    Raises RuntimeError in torch's own words if that refuses them.
    """
    call = op, *((name, tensor.device, tensor.dim() == 0) for name, tensor, _ in given)
    if call in _passed:
        return
    copies = {id(tensor): _unwritten(tensor) for _, tensor, written in given if written}

    def spare(value: Any) -> Any:
        return copies.get(id(value), value) if isinstance(value, Tensor) else value

    try:
        op._op_dk(_CPU, *map(spare, args), **{name: spare(kwargs[name]) for name in kwargs})
    except Exception as error:
        if _is_about_places(str(error)):
            raise RuntimeError(_without_trace(str(error))) from None
        if not _begins(str(error)):
            return  # another error, which the call itself will meet
    _passed.add(call)


def _unwritten(tensor: Tensor) -> Tensor:
    return torch.empty_strided(
        tensor.size(), tensor.stride(), dtype=tensor.dtype, device=tensor.device
    )


def _begins(message: str) -> bool:
    return any(words in message for words in _BEGINS)


def _is_about_places(message: str) -> bool:
    return not _begins(message) and ("device" in message or "CPU scalars" in message)


def _without_trace(message: str) -> str:
    return message.partition("\nException raised from ")[0]


def _check_common(full: str, schema: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """Make the check that torchgen generates: operands not on the device of the first one.

    It looks at the results that the caller brings, then at the arguments that have a position.
    """
    from torchgen.api.types import DispatcherSignature, NativeSignature
    from torchgen.model import FunctionSchema

    func = FunctionSchema.parse(declared().schemas.get(full) or str(schema).partition("::")[2])
    values = {
        argument.name: value for argument, value in zip(schema.arguments, args, strict=False)
    } | kwargs
    given = [
        Operand(argument.name, tensor, False)
        for argument in (*func.arguments.out, *func.arguments.flat_positional)
        for tensor in _tensors(values.get(argument.name))
    ]
    prefix = f"wrapper_{_key(given)}_"
    if full in declared().structured:
        method = NativeSignature(func, prefix=prefix, symint=False).name()
    else:
        method = DispatcherSignature.from_schema(
            func, prefix=f"{prefix}{func.name.overload_name}_"
        ).name()
    common = given[0].tensor.device
    for name, tensor, _ in given:
        if tensor.device != common:
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but got {name} is on "
                f"{tensor.device}, different from other tensors on {common} "
                f"(when checking argument in method {method})"
            )


def _tensors(value: Any) -> Iterator[Tensor]:
    for item in value if isinstance(value, (list, tuple)) else (value,):
        if isinstance(item, Tensor):
            yield item


def _key(given: Sequence[Operand]) -> str:
    """Name the dispatch key that torch takes for a call: the one of the least common operand."""
    kind = STATE.device_type.upper()
    if any(tensor.is_nested for _, tensor, _ in given):
        return f"NestedTensor{kind}"
    layouts = {tensor.layout for _, tensor, _ in given}
    if layouts <= {torch.strided}:
        return kind
    return f"Sparse{kind}" if layouts <= {torch.strided, torch.sparse_coo} else f"SparseCsr{kind}"


def _check_elementwise(given: Sequence[Operand]) -> None:
    """Refuse what is not on the first device: except for one scalar, a 0-dim tensor on the host."""
    devices = [operand.tensor.device for operand in given]
    common = next((device for device in devices if device.type != "cpu"), devices[0])
    scalars = 1
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
