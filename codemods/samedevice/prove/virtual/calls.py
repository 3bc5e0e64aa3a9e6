"""How an operation of the accelerator is made of the CPU's: for each form of operation one way.

The arguments are checked and viewed as host tensors, the CPU's kernel runs, and what it made comes
back as device tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from samedevice.prove.virtual import rules
from samedevice.prove.virtual.bridge import adopt, set_storage_offset, to_device, to_host
from samedevice.prove.virtual.dtypes import LACKING, refuse, widening
from samedevice.prove.virtual.generators import for_draw
from samedevice.prove.virtual.state import STATE

Kernel = Callable[..., Any]

_CPU = torch._C.DispatchKey.CPU
_COMPOSITE = torch._C.DispatchKey.CompositeExplicitAutograd
_NUMBERS = frozenset([int, float, bool, complex])


def full_name(packet: str, overload: str) -> str:
    """Return the name of an operation with its overload, as torch registers it."""
    return packet if overload == "default" else f"{packet}.{overload}"


def operation(name: str, namespace: str = "aten") -> Any:
    """Return the operation of that name; None if this torch has none."""
    packet, _, overload = name.partition(".")
    try:
        return getattr(getattr(getattr(torch.ops, namespace), packet), overload or "default")
    except AttributeError:
        return None


def _foreach(op: Any) -> Kernel:
    """Take the lists at once, or tensor by tensor where they are on several devices."""
    together = plain_kernel(op)
    one_by_one = op._op_dk

    def kernel(*args: Any, **kwargs: Any) -> Any:
        devices = {
            operand.tensor.get_device() for operand in rules.operands(op._schema, args, kwargs)
        }
        if len(devices) > 1:
            return one_by_one(_COMPOSITE, *args, **kwargs)
        return together(*args, **kwargs)

    return kernel


def kernel_of(op: Any) -> Kernel:
    """Return the kernel of an operation, also of one that takes lists at once."""
    if op._schema.name.startswith("aten::_foreach_"):
        return _foreach(op)
    return plain_kernel(op)


def plain_kernel(op: Any) -> Kernel:
    """Return the kernel of an operation of any other form."""
    arguments = op._schema.arguments
    if any(argument.name == "device" for argument in arguments):
        return _factory(op)
    written = [
        argument
        for argument in arguments
        if argument.alias_info is not None and argument.alias_info.is_write
    ]
    if not written:
        return functional(op)
    outs = [argument.name for argument in written if argument.kwarg_only]
    return _out(op, outs) if outs else _inplace(op)


def preparation(op: Any) -> Callable[..., tuple[list[Any], dict[str, Any], int]]:
    """Return what turns a call's arguments into those of the CPU's kernel, or refuses them.

    The third value is the index of the device that the results belong to.
    """
    lacking = LACKING.get(rules.full_name(op._schema).partition(".")[0])
    names = [argument.name for argument in op._schema.arguments]
    generator = names.index("generator") if "generator" in names else None
    plain = lacking is None and generator is None

    def prepare(
        args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any], int]:
        hosts, index, mixed = _hosts(args)
        if plain and not kwargs and not mixed:
            return hosts, kwargs, index
        kwhosts, index, mixed = _kwhosts(kwargs, index, mixed)
        if mixed:
            rules.mixed(op, args, kwargs)
        if lacking is not None:
            refuse(lacking, hosts[0].dtype)
        if generator is not None:
            if generator < len(hosts):
                hosts[generator] = for_draw(hosts[generator], index)
            else:
                kwhosts["generator"] = for_draw(kwhosts.get("generator"), index)
        return hosts, kwhosts, index

    return prepare


def _call(op: Any) -> Kernel:
    """Return what calls the CPU's kernel, given host tensors.

    C++ hands on a number that stands for a tensor (`x % 4`) as a number, which not every overload
    takes back: then torch chooses the overload again.
    """
    overload: Kernel = widening(rules.full_name(op._schema).partition(".")[0], op._op)
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


def functional(op: Any) -> Kernel:
    """Return the kernel of an operation that writes to none of its arguments."""
    call, prepare = _call(op), preparation(op)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        hosts, kwhosts, index = prepare(args, kwargs)
        result = call(*hosts, **kwhosts)
        return to_device(result, index) if type(result) is Tensor else _devices(result, index)

    return kernel


def _inplace(op: Any) -> Kernel:
    call, prepare = _call(op), preparation(op)
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
    call, prepare = _call(op), preparation(op)
    returned = [source[1] for source in _aliases(op._schema) if source is not None]

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
            if host.data_ptr() != out.data_ptr():
                adopt(out, to_device(host, index))
            elif host.shape != out.shape or host.stride() != out.stride():
                set_storage_offset(
                    out, out.untyped_storage(), out.storage_offset(), host.shape, host.stride()
                )
        if not returned:
            return None
        return outs[returned[0]] if len(returned) == 1 else tuple(outs[name] for name in returned)

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


def on_cpu(op: Any, dispatch_key: Any = _CPU) -> Kernel:
    """Call the CPU's kernel of an operation that touches no memory on the device tensor itself."""
    call = op._op_dk

    def kernel(*args: Any, **kwargs: Any) -> Any:
        return call(dispatch_key, *args, **kwargs)

    return kernel
