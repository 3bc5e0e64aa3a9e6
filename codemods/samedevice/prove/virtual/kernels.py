"""The operations of the virtual accelerator: each runs the CPU's kernel on the same memory.

Every operation for which torch has a CPU kernel gets one Python kernel under the accelerator's
dispatch key. It checks the places of its operands as a GPU machine would, views them as host
tensors, calls the operation again, and gives the results back as device tensors. What only makes
views, or moves data between places, has a kernel of its own. Everything above the backend
(autograd, autocast, functorch, composite operations) is torch's own code and takes the paths it
takes for CUDA.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable
from typing import Any

import torch

from samedevice.prove.virtual import distributed, rules
from samedevice.prove.virtual.bridge import lacking
from samedevice.prove.virtual.calls import (
    Kernel,
    full_name,
    kernel_of,
    on_cpu,
    operation,
    plain_kernel,
)
from samedevice.prove.virtual.compiled import BEHIND, Compiled
from samedevice.prove.virtual.special import copy_, special_kernels, to_copy
from samedevice.prove.virtual.strict import strictly

_registered = torch._C._dispatch_get_registrations_for_dispatch_key
_has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
_COMPOSITE = torch._C.DispatchKey.CompositeExplicitAutograd
_IMPLICIT = torch._C.DispatchKey.CompositeImplicitAutograd
_aten = torch.ops.aten

# Composite operations that get a kernel too. The first choose theirs by device, and ours is to be
# the CPU's; the others are two kernels each, of which one is enough.
_ALSO = [
    "convolution_overrideable",
    "convolution_backward",
    "clone",
    "zeros",
    "ones",
    "full",
    "zeros_like",
    "ones_like",
]

# Operations on sparse tensors whose CPU kernels deal with the dense ones inside as a whole.
_SPARSE_STRUCTURE = frozenset(
    [
        "_indices",
        "_values",
        "indices",
        "values",
        "_nnz",
        "sparse_dim",
        "_dimI",
        "dense_dim",
        "_dimV",
        "crow_indices",
        "col_indices",
        "ccol_indices",
        "row_indices",
        "is_coalesced",
        "_coalesced_",
        "empty",
        "_sparse_coo_tensor_with_dims",
        "_sparse_coo_tensor_with_dims_and_tensors",
        "sparse_resize_",
        "sparse_resize_and_clear_",
        "copy_",
        "copy_sparse_to_sparse_",
        "clone",
        "zero_",
        "resize_as_sparse_",
    ]
)

# The same of nested tensors, which are one dense tensor each, with sizes on the host.
_NESTED_STRUCTURE = frozenset(
    [
        "_nested_tensor_size",
        "_nested_tensor_strides",
        "_nested_tensor_storage_offsets",
        "values",
        "is_same_size",
        "alias",
        "detach",
        "view",
        "transpose",
        "select",
        "unbind",
        "squeeze",
        "unsqueeze",
        "narrow",
        "split_with_sizes",
        "chunk",
    ]
)


def register(dispatch_key: str, compiled: Compiled | None = None) -> list[torch.library.Library]:
    """Register all kernels under `dispatch_key`; they stay as long as the result is kept.

    What `compiled` serves is registered behind it.
    """
    # else torch would take what its own Python code registered before for a second registration
    taken: set[str] = getattr(torch.library, "_impls", set())
    taken -= {name for name in taken if name.endswith(f"/{dispatch_key}")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that composite operations get a kernel of ours
        return _register(dispatch_key, compiled)


def _register(dispatch_key: str, compiled: Compiled | None) -> list[torch.library.Library]:
    library = torch.library.Library("aten", "IMPL")
    special = special_kernels()
    of_build = set(_registered(dispatch_key))
    names = _aten_names("CPU")
    foreach = {name for name in dir(torch._C._VariableFunctions) if name.startswith("_foreach_")}
    for packet in sorted(foreach):
        names.update(full_name(packet, overload) for overload in getattr(_aten, packet).overloads())
    names.update(_ALSO)
    names -= rules.declared().host_only[""]
    for name in sorted(names | set(special)):
        op = operation(name)
        if op is None:
            continue
        kernel = special.get(name) or kernel_of(op)
        key = dispatch_key
        if compiled is not None and compiled.take(op, name, name in special):
            key = BEHIND
        library.impl(name, strictly(name.partition(".")[0], kernel), key)
    _register_parts(library, "Sparse", dispatch_key, _SPARSE_STRUCTURE)
    _register_parts(library, "SparseCsr", dispatch_key, _SPARSE_STRUCTURE)
    fallback = torch.library.Library("_", "IMPL")
    fallback.fallback(_fallback, dispatch_key)
    if dispatch_key != "MPS":  # which has no such keys
        _register_parts(library, "NestedTensor", dispatch_key, _NESTED_STRUCTURE)
        fallback.fallback(_refuse_quantized, f"Quantized{dispatch_key}")
        for name in _aten_names(f"Quantized{dispatch_key}"):
            library.impl(name, _refuse_quantized, f"Quantized{dispatch_key}")
    ours = {f"aten::{name}" for name in names | set(special)}
    return [library, fallback, *stand_in(sorted(of_build - ours), dispatch_key)]


def registered(dispatch_key: str) -> set[str]:
    """Name all operations that have a kernel for a key, with their namespaces."""
    return set(_registered(dispatch_key))


def stand_in(names: Iterable[str], dispatch_key: str) -> list[torch.library.Library]:
    """Put kernels in place of those for the real device, which builds and extensions for it bring.

    `names` are those of operations, with their namespaces.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that kernels are replaced
        return _stand_in(names, dispatch_key)


def _stand_in(names: Iterable[str], dispatch_key: str) -> list[torch.library.Library]:
    libraries: dict[str, torch.library.Library] = {}
    for full in names:
        namespace, _, name = full.partition("::")
        if namespace == distributed.NAMESPACE:
            continue
        op = operation(name, namespace)
        if op is None:
            continue
        if namespace not in libraries:
            libraries[namespace] = torch.library.Library(namespace, "IMPL")
        library = libraries[namespace]
        if _has_kernel(full, "CPU"):
            library.impl(name, kernel_of(op), dispatch_key)
        elif _has_kernel(full, "CompositeExplicitAutograd"):
            library.impl(name, _composite(op, _COMPOSITE), dispatch_key)
        elif _has_kernel(full, "CompositeImplicitAutograd"):
            for key in (dispatch_key, f"Autograd{dispatch_key}"):
                library.impl(name, _composite(op, _IMPLICIT), key)
        else:
            library.impl(name, functools.partial(_fallback, op), dispatch_key)
    return list(libraries.values())


def _composite(op: Any, dispatch_key: Any) -> Kernel:
    return functools.partial(op._op_dk, dispatch_key)


def _register_parts(
    library: torch.library.Library, kind: str, dispatch_key: str, structure: frozenset[str]
) -> None:
    """Register the same for tensors of a kind that consists of dense ones.

    The CPU's kernels work on those; but for the operations on their `structure`, which know no
    device.
    """
    host_key = getattr(torch._C.DispatchKey, f"{kind}CPU")
    moves: dict[str, Kernel] = {} if "Sparse" in kind else {"_to_copy": to_copy, "copy_": copy_}
    names = _aten_names(f"{kind}CPU")
    for name in names - rules.declared().host_only[kind]:
        op = operation(name)
        if op is not None:
            made = moves.get(name)
            if made is None and name.partition(".")[0] in structure:
                made = on_cpu(op, host_key)
            library.impl(name, made or plain_kernel(op), f"{kind}{dispatch_key}")
    for name in _aten_names(f"{kind}{dispatch_key}") - names:
        refuse = functools.partial(_fallback, operation(name))
        library.impl(name, refuse, f"{kind}{dispatch_key}")


def _aten_names(dispatch_key: str) -> set[str]:
    """Name the operations of torch itself that have a kernel for a key."""
    names = _registered(dispatch_key)
    return {name.removeprefix("aten::") for name in names if name.startswith("aten::")}


def _refuse_quantized(*args: Any, **kwargs: Any) -> Any:
    raise lacking("quantized")


_made: dict[Any, Kernel] = {}


def _fallback(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Serve the operations of extensions (torchvision and others) by their CPU kernels."""
    kernel = _made.get(op)
    if kernel is None:
        if op.namespace == "aten" and rules.full_name(op._schema) in rules.declared().host_only[""]:
            raise NotImplementedError(
                f"Could not run '{op.name()}' with arguments from the 'CUDA' backend."
            )
        kernel = _made[op] = kernel_of(op)
    return kernel(*args, **kwargs)
