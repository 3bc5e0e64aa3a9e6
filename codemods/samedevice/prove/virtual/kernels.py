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
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from samedevice.prove.virtual import distributed, rules
from samedevice.prove.virtual.bridge import adopt, lacking, to_device, to_host
from samedevice.prove.virtual.generators import for_draw
from samedevice.prove.virtual.state import STATE

Kernel = Callable[..., Any]

_registered = torch._C._dispatch_get_registrations_for_dispatch_key
_has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
_CPU = torch._C.DispatchKey.CPU
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

# Operations whose CPU kernels read and write sizes, strides and storages only.
_METADATA = [
    "as_strided",
    "view",
    "_reshape_alias",
    "unfold",
    "view_as_real",
    "view_as_complex",
    "set_.source_Storage_storage_offset",
]


def register(dispatch_key: str) -> list[torch.library.Library]:
    """Register all kernels under `dispatch_key`; they stay as long as the result is kept."""
    # what Python code of torch registered before us would be taken for a second registration
    taken: set[str] = getattr(torch.library, "_impls", set())
    taken -= {name for name in taken if name.endswith(f"/{dispatch_key}")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that composite operations get a kernel of ours
        return _register(dispatch_key)


def _register(dispatch_key: str) -> list[torch.library.Library]:
    library = torch.library.Library("aten", "IMPL")
    special = _special_kernels()
    of_build = set(_registered(dispatch_key))
    names = _aten_names("CPU")
    foreach = {name for name in dir(torch._C._VariableFunctions) if name.startswith("_foreach_")}
    for packet in sorted(foreach):
        names.update(
            _full_name(packet, overload) for overload in getattr(_aten, packet).overloads()
        )
    names.update(_ALSO)
    names -= rules.declared().host_only
    for name in sorted(names | set(special)):
        op = _operation(name)
        if op is None:
            continue
        library.impl(name, special.get(name) or _kernel(op), dispatch_key)
    _register_sparse(library, "Sparse", dispatch_key)
    _register_sparse(library, "SparseCsr", dispatch_key)
    fallback = torch.library.Library("_", "IMPL")
    fallback.fallback(_fallback, dispatch_key)
    for kind in ("Quantized", "NestedTensor") if dispatch_key != "MPS" else ():  # has no such keys
        refuse = _refusal(kind)
        fallback.fallback(refuse, f"{kind}{dispatch_key}")
        for name in _aten_names(f"{kind}{dispatch_key}"):
            library.impl(name, refuse, f"{kind}{dispatch_key}")
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
        op = _operation(name, namespace)
        if op is None:
            continue
        if namespace not in libraries:
            libraries[namespace] = torch.library.Library(namespace, "IMPL")
        library = libraries[namespace]
        if _has_kernel(full, "CPU"):
            library.impl(name, _kernel(op), dispatch_key)
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


def _register_sparse(library: torch.library.Library, kind: str, dispatch_key: str) -> None:
    """Register the same for sparse tensors: a few dense ones, on which the CPU's kernels work."""
    host_key = getattr(torch._C.DispatchKey, f"{kind}CPU")
    names = _aten_names(f"{kind}CPU")
    for name in names:
        op = _operation(name)
        if op is not None:
            structure = name.partition(".")[0] in _SPARSE_STRUCTURE
            kernel = _on_cpu(op, host_key) if structure else _plain_kernel(op)
            library.impl(name, kernel, f"{kind}{dispatch_key}")
    for name in _aten_names(f"{kind}{dispatch_key}") - names:
        refuse = functools.partial(_fallback, _operation(name))
        library.impl(name, refuse, f"{kind}{dispatch_key}")


def _aten_names(dispatch_key: str) -> set[str]:
    """Name the operations of torch itself that have a kernel for a key."""
    names = _registered(dispatch_key)
    return {name.removeprefix("aten::") for name in names if name.startswith("aten::")}


def _refusal(kind: str) -> Kernel:
    words = {"Quantized": "quantized", "NestedTensor": "nested (strided)"}[kind]

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise lacking(words)

    return refuse


def _full_name(packet: str, overload: str) -> str:
    return packet if overload == "default" else f"{packet}.{overload}"


def _operation(name: str, namespace: str = "aten") -> Any:
    packet, _, overload = name.partition(".")
    try:
        return getattr(getattr(getattr(torch.ops, namespace), packet), overload or "default")
    except AttributeError:
        return None


_NUMBERS = frozenset([int, float, bool, complex])

_made: dict[Any, Kernel] = {}


def _fallback(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Serve the operations of extensions (torchvision and others) by their CPU kernels."""
    kernel = _made.get(op)
    if kernel is None:
        if op.namespace == "aten" and rules.full_name(op._schema) in rules.declared().host_only:
            raise NotImplementedError(
                f"Could not run '{op.name()}' with arguments from the 'CUDA' backend."
            )
        kernel = _made[op] = _kernel(op)
    return kernel(*args, **kwargs)


def _foreach(op: Any) -> Kernel:
    """Take the lists at once, or tensor by tensor where they are on several devices."""
    together = _plain_kernel(op)
    one_by_one = op._op_dk

    def kernel(*args: Any, **kwargs: Any) -> Any:
        devices = {
            operand.tensor.get_device() for operand in rules.operands(op._schema, args, kwargs)
        }
        if len(devices) > 1:
            return one_by_one(_COMPOSITE, *args, **kwargs)
        return together(*args, **kwargs)

    return kernel


def _kernel(op: Any) -> Kernel:
    if op._schema.name.startswith("aten::_foreach_"):
        return _foreach(op)
    return _plain_kernel(op)


def _plain_kernel(op: Any) -> Kernel:
    arguments = op._schema.arguments
    if any(argument.name == "device" for argument in arguments):
        return _factory(op)
    written = [
        argument
        for argument in arguments
        if argument.alias_info is not None and argument.alias_info.is_write
    ]
    if not written:
        return _functional(op)
    if all(argument.kwarg_only for argument in written):
        return _out(op, [argument.name for argument in written])
    return _inplace(op)


def _prepare(op: Any) -> Callable[..., tuple[list[Any], dict[str, Any], int]]:
    """Return what turns a call's arguments into those of the CPU's kernel, or refuses them.

    The third value is the index of the device that the results belong to.
    """
    short = rules.full_name(op._schema).partition(".")[0]
    float_only = rules.is_float_only(short)
    names = [argument.name for argument in op._schema.arguments]
    generator = names.index("generator") if "generator" in names else None
    plain = not float_only and generator is None

    def prepare(
        args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any], int]:
        hosts, index, mixed = _hosts(args)
        if plain and not kwargs and not mixed:
            return hosts, kwargs, index
        kwhosts, index, mixed = _kwhosts(kwargs, index, mixed)
        if mixed:
            rules.mixed(op, args, kwargs)
        if float_only:
            rules.unsupported(short, hosts[0].dtype)
        if generator is not None:
            if generator < len(hosts):
                hosts[generator] = for_draw(hosts[generator], index)
            else:
                kwhosts["generator"] = for_draw(kwhosts.get("generator"), index)
        return hosts, kwhosts, index

    return prepare


def _call(op: Any) -> Kernel:
    """Return what calls the CPU's kernel, given host tensors.

    C++ hands us a number that stands for a tensor (`x % 4`) as a number, which not every overload
    takes back: then torch chooses the overload again.
    """
    overload: Kernel = op._op
    packet = op.overloadpacket
    types = [str(argument.type) for argument in op._schema.arguments if not argument.kwarg_only]
    if types[:2] != ["Tensor", "Tensor"] or not any(
        "Scalar" in name for name in packet.overloads()
    ):
        return overload

    def call(*hosts: Any, **kwhosts: Any) -> Any:
        if type(hosts[1]) in _NUMBERS or type(hosts[0]) in _NUMBERS:
            return packet(*hosts, **kwhosts)
        return overload(*hosts, **kwhosts)

    return call


def _functional(op: Any) -> Kernel:
    call, prepare = _call(op), _prepare(op)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        hosts, kwhosts, index = prepare(args, kwargs)
        result = call(*hosts, **kwhosts)
        return to_device(result, index) if type(result) is Tensor else _devices(result, index)

    return kernel


def _inplace(op: Any) -> Kernel:
    call, prepare = _call(op), _prepare(op)
    sources = _aliases(op._schema)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        hosts, kwhosts, index = prepare(args, kwargs)
        result = call(*hosts, **kwhosts)
        if not sources:
            return None
        results = [
            _devices(value, index)
            if source is None
            else args[source[0]]
            if source[0] < len(args)
            else kwargs[source[1]]
            for value, source in zip(
                result if len(sources) > 1 else (result,), sources, strict=True
            )
        ]
        return results[0] if len(results) == 1 else tuple(results)

    return kernel


def _aliases(schema: Any) -> list[tuple[int, str] | None]:
    """Say of each result which argument it is (position and name), None for a fresh tensor."""
    found: list[tuple[int, str] | None] = []
    for result in schema.returns:
        found.append(None)
        for position, argument in enumerate(schema.arguments):
            if (
                result.alias_info is not None
                and argument.alias_info is not None
                and result.alias_info.before_set == argument.alias_info.before_set
            ):
                found[-1] = position, argument.name
    return found


def _out(op: Any, written: list[str]) -> Kernel:
    call, prepare = _call(op), _prepare(op)
    returns = len(op._schema.returns)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        hosts, kwhosts, index = prepare(args, kwargs)
        outs = {name: kwargs[name] for name in written if isinstance(kwargs.get(name), Tensor)}
        for name, out in outs.items():
            if not out.numel():  # the CPU's kernel may resize it: not in memory that it doesn't own
                kwhosts[name] = torch.empty(0, dtype=out.dtype)
        try:
            call(*hosts, **kwhosts)
        except RuntimeError as error:
            if "storage that is not resizable" not in str(error):
                raise
            kwhosts.update((name, torch.empty(0, dtype=out.dtype)) for name, out in outs.items())
            call(*hosts, **kwhosts)
        for name, out in outs.items():
            host = kwhosts[name]
            if host.shape != out.shape or host.data_ptr() != out.data_ptr():
                adopt(out, to_device(host, index))
        if not returns:
            return None
        return outs[written[0]] if returns == 1 else tuple(outs[name] for name in written)

    return kernel


def _factory(op: Any) -> Kernel:
    call = op._op
    place = [argument.name for argument in op._schema.arguments].index("device")

    def kernel(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("pin_memory", None)
        if place < len(args):
            device = args[place]
            args = (*args[:place], None, *args[place + 1 :])
        else:
            device = kwargs.pop("device", None)
        hosts, index, _ = _hosts(args)
        if device is not None and device.type != STATE.device_type:
            return call(*hosts, device=device, **kwargs)
        if device is not None or index < 0:
            index = STATE.index(device)
        return to_device(call(*hosts, **kwargs), index)

    return kernel


def _hosts(args: Sequence[Any]) -> tuple[list[Any], int, bool]:
    """View the device tensors of `args` as host tensors.

    Also say the index of the first tensor's accelerator (the current one, if there is none) and
    whether the tensors are on different devices.
    """
    hosts = []
    index = -1
    elsewhere = False  # there is a tensor on the host or on another accelerator
    for value in args:
        if isinstance(value, Tensor):
            here = value.get_device()
            if here < 0:
                elsewhere = True
            else:
                if index < 0:
                    index = here
                elif here != index:
                    elsewhere = True
                value = to_host(value)
        elif type(value) is list and any(isinstance(item, Tensor) for item in value):
            value, inner, other = _hosts(value)
            if index < 0:
                index = inner
            elsewhere = elsewhere or other or inner != index
        hosts.append(value)
    return hosts, index, elsewhere


def _kwhosts(
    kwargs: dict[str, Any], index: int, elsewhere: bool
) -> tuple[dict[str, Any], int, bool]:
    hosts, inner, other = _hosts(tuple(kwargs.values()))
    if inner >= 0 and index >= 0 and inner != index:
        other = True
    return dict(zip(kwargs, hosts, strict=True)), index if index >= 0 else inner, elsewhere or other


def _devices(result: Any, index: int) -> Any:
    if type(result) is Tensor:
        return to_device(result, index)
    if type(result) in (tuple, list):
        return type(result)(_devices(item, index) for item in result)
    return result


def _on_cpu(op: Any, dispatch_key: Any = _CPU) -> Kernel:
    """Call the CPU's kernel of an operation that touches no memory on the device tensor itself."""
    call = op._op_dk

    def kernel(*args: Any, **kwargs: Any) -> Any:
        return call(dispatch_key, *args, **kwargs)

    return kernel


def _special_kernels() -> dict[str, Kernel]:
    kernels: dict[str, Kernel] = {name: _on_cpu(_operation(name)) for name in _METADATA}
    kernels.update(
        {
            "empty.memory_format": _empty,
            "empty_strided": _empty_strided,
            "copy_": _copy_,
            "_to_copy": _to_copy,
            "_copy_from": _copy_from,
            "resize_": _resize_,
            "set_": _set_empty,
            "set_.source_Storage": _set_storage,
            "set_.source_Tensor": _set_tensor,
            "_local_scalar_dense": _local_scalar_dense,
            "_softmax": _softmax(_aten._softmax.default),
            "_log_softmax": _softmax(_aten._log_softmax.default),
            "native_dropout": _native_dropout,
            "native_dropout_backward": _native_dropout_backward,
            "_fused_sdp_choice": lambda *args, **kwargs: 0,  # the mathematical one
            **{
                f"_use_{library}_ctc_loss{overload}": lambda *args, **kwargs: False
                for library in ("cudnn", "miopen")
                for overload in ("", ".Tensor")
            },
            "_efficientzerotensor": _zeros,
            "convolution": _convolution(_aten.convolution.default),
        }
    )
    return kernels


def _empty(
    size: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    memory_format: Any = None,
) -> Tensor:
    return to_device(
        torch.empty(
            size, dtype=dtype, device="cpu", memory_format=memory_format or torch.contiguous_format
        ),
        STATE.index(device),
    )


def _empty_strided(
    size: Any,
    stride: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
) -> Tensor:
    return to_device(
        torch.empty_strided(size, stride, dtype=dtype, device="cpu"), STATE.index(device)
    )


def _zeros(size: Any, *, dtype: Any = None, device: Any = None, **ignored: Any) -> Tensor:
    return to_device(torch.zeros(size, dtype=dtype, device="cpu"), STATE.index(device))


def _type_name(tensor: Tensor) -> str:
    """Name a tensor's type as torch's messages do, which know the legacy names of CUDA's only."""
    name, place = str(tensor.type()), str(tensor.device.type)
    if place in ("cpu", "cuda"):
        return name
    return place.upper() + name.rpartition(".")[2].replace("Tensor", "Type")


def _convolution(op: Any) -> Kernel:
    """Refuse what cuDNN refuses, before all else, and in torch's words."""
    plain = _functional(op)

    def kernel(input: Tensor, weight: Tensor, bias: Tensor | None, *args: Any) -> Any:
        for name, tensor in (("weight", weight), ("bias", bias)):
            if tensor is not None and (tensor.device, tensor.dtype) != (input.device, input.dtype):
                end = "should be the same"
                if input.device.type == "cpu" and name == "weight":
                    end += " or input should be a MKLDNN tensor and weight is a dense tensor"
                raise RuntimeError(
                    f"Input type ({_type_name(input)}) and {name} type ({_type_name(tensor)}) {end}"
                )
        if not (input.is_floating_point() or input.is_complex()):
            raise RuntimeError("GET was unable to find an engine to execute this computation")
        return plain(input, weight, bias, *args)

    return kernel


def _host(tensor: Tensor) -> Tensor:
    return tensor if tensor.get_device() < 0 else to_host(tensor)


def _copy_(self: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:
    _host(self).copy_(_host(source))
    return self


def _to_copy(
    self: Tensor, *, device: Any = None, non_blocking: bool = False, **options: Any
) -> Tensor:
    options.pop("pin_memory", None)
    if device is not None and device.type != STATE.device_type:
        return _aten._to_copy.default._op(to_host(self), device=device, **options)
    copy = _aten._to_copy.default._op(to_host(self), **options)
    return to_device(copy, self.get_device() if device is None else STATE.index(device))


def _copy_from(source: Tensor, self: Tensor, non_blocking: bool = False) -> Tensor:
    return _copy_(self, source, non_blocking)


def _local_scalar_dense(self: Tensor) -> Any:
    return to_host(self).item()


def _resize_(self: Tensor, size: Any, *, memory_format: Any = None) -> Tensor:
    model = torch.empty(
        size,
        dtype=self.dtype,
        device="meta",
        memory_format=memory_format or torch.contiguous_format,
    )
    storage = self.untyped_storage()
    needed = (self.storage_offset() + model.numel()) * self.element_size()
    if needed > storage.nbytes():
        grown = torch.empty(needed, dtype=torch.uint8)
        old = torch.empty(0, dtype=torch.uint8, device=self.device).set_(storage)
        grown[: storage.nbytes()].copy_(to_host(old))
        fresh = to_device(grown, self.get_device())
        _set_storage_offset(
            self, fresh.untyped_storage(), self.storage_offset(), model.size(), model.stride()
        )
    else:
        _set_storage_offset(self, storage, self.storage_offset(), model.size(), model.stride())
    return self


def _set_storage_offset(self: Tensor, storage: Any, offset: int, size: Any, stride: Any) -> Tensor:
    _aten.set_.source_Storage_storage_offset._op_dk(_CPU, self, storage, offset, size, stride)
    return self


def _set_empty(self: Tensor) -> Tensor:
    adopt(self, _empty([0], dtype=self.dtype, device=self.device))
    return self


def _set_storage(self: Tensor, source: Any) -> Tensor:
    length = source.nbytes() // self.element_size()
    return _set_storage_offset(self, source, 0, [length], [1])


def _set_tensor(self: Tensor, source: Tensor) -> Tensor:
    if self.device != source.device:
        raise RuntimeError(
            f'Attempted to set the storage of a tensor on device "{self.device}" to a storage on '
            f'different device "{source.device}".  This is no longer allowed; the devices must '
            "match."
        )
    adopt(self, source)
    return self


def _softmax(op: Any) -> Kernel:
    """Widen half to float first where CUDA's kernel does both at once."""
    plain = _functional(op)

    def kernel(self: Tensor, dim: int, half_to_float: bool) -> Any:
        return plain(self.float() if half_to_float else self, dim, False)

    return kernel


def _native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """Drop as the CPU's dropout does, from the same random numbers and with the same rounding."""
    host, index = to_host(input), input.get_device()
    if train is False or not host.numel():
        mask = torch.ones_like(host, dtype=torch.bool)
        return to_device(host.clone(), index), to_device(mask, index)
    if p == 1:
        return to_device(torch.zeros_like(host), index), to_device(
            torch.zeros_like(host, dtype=torch.bool), index
        )
    noise = torch.empty_like(host).bernoulli_(1 - p, generator=for_draw(None, index))
    mask = noise.bool()
    return to_device(host * noise.div_(1 - p), index), to_device(mask, index)


def _native_dropout_backward(grad: Tensor, mask: Tensor, scale: float) -> Tensor:
    host = to_host(grad)
    noise = to_host(mask).to(host.dtype)
    return to_device(host * (noise.div_(1 / scale) if scale else noise.zero_()), grad.get_device())
