"""Whole functions that torch composes differently on CUDA: they take the CPU's way here.

A recurrent network, say, is a chain of products on the CPU and one fused kernel on CUDA. So that the
values are the CPU's to the last bit, its tensors go to the host under autograd's eyes (without a
copy), the CPU's composition runs, and the results come back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from samedevice.prove.virtual import rules
from samedevice.prove.virtual.bridge import to_device, to_host
from samedevice.prove.virtual.state import STATE

Tensor = torch.Tensor


class _ToHost(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, device: Tensor) -> Tensor:
        ctx.index = device.get_device()
        return to_host(device)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:  # type: ignore[override]
        return _ToDevice.apply(grad, ctx.index)


class _ToDevice(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, host: Tensor, index: int) -> Tensor:
        return to_device(host, index)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:  # type: ignore[override]
        return _ToHost.apply(grad), None


def _map(function: Callable[[Tensor], Any], value: Any) -> Any:
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_map(function, item) for item in value)
    return value


def _hop(op: Any, check: Callable[[Any, tuple[Any, ...], dict[str, Any]], None]) -> Callable[..., Any]:
    call = op._op
    label = str(op)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        check(op, args, kwargs)
        index = next(
            tensor.get_device()
            for _, tensor, _ in rules.operands(op._schema, args, kwargs)
            if tensor.get_device() >= 0
        )

        def down(tensor: Tensor) -> Any:
            return _ToHost.apply(tensor) if tensor.get_device() >= 0 else tensor

        STATE.operations[label] += 1
        result = call(*_map(down, args), **{name: _map(down, value) for name, value in kwargs.items()})
        return _map(lambda tensor: _ToDevice.apply(tensor, index), result)

    return kernel


def _check_rnn(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    names = [argument.name for argument in op._schema.arguments]
    given = dict(zip(names, args)) | kwargs
    first = given.get("input", given.get("data"))
    hidden = given["hx"]
    for kind, tensors in (
        ("hidden", hidden if isinstance(hidden, (list, tuple)) else [hidden]),
        ("parameter", given["params"]),
    ):
        for tensor in tensors:
            if tensor.device != first.device:
                raise RuntimeError(
                    f"Input and {kind} tensors are not at the same device, found input tensor at "
                    f"{first.device} and {kind} tensor at {tensor.device}"
                )


def _check_cell(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    names = [argument.name for argument in op._schema.arguments]
    given = dict(zip(names, args)) | kwargs
    hidden = given["hx"]
    state, *cell = hidden if isinstance(hidden, (list, tuple)) else [hidden]
    devices = {tensor.device for _, tensor, _ in rules.operands(op._schema, args, kwargs)}
    if len(devices) > 1:  # the products and the sum inside refuse
        with torch.no_grad():
            gates = torch.nn.functional.linear(given["input"], given["w_ih"], given.get("b_ih"))
            gates = gates + torch.nn.functional.linear(state, given["w_hh"], given.get("b_hh"))
            for tensor in cell:
                torch.add(gates[..., : tensor.shape[-1]], tensor)


def _check_attention(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    given = [tensor for _, tensor, _ in rules.operands(op._schema, args, kwargs)]
    query, key, value, *mask = given
    if not query.device == key.device == value.device:
        raise RuntimeError(
            "Expected query, key, and value to have the same device type, but got query.device: "
            f"{query.device} key.device: {key.device} and value.device: {value.device} instead."
        )
    if mask and mask[0].device != query.device:
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but got attn_bias is on {mask[0].device}, "
            f"different from other tensors on {query.device} (when checking argument in method "
            "wrapper_CUDA___scaled_dot_product_efficient_attention)"
        )


_CHECKS: dict[str, Callable[[Any, tuple[Any, ...], dict[str, Any]], None]] = {
    **{
        f"{kind}.{form}": _check_rnn
        for kind in ("lstm", "gru", "rnn_tanh", "rnn_relu")
        for form in ("input", "data")
    },
    **{f"{kind}_cell": _check_cell for kind in ("lstm", "gru", "rnn_tanh", "rnn_relu")},
    "scaled_dot_product_attention": _check_attention,
}


def register(dispatch_key: str) -> torch.library.Library:
    """Register the hops under `dispatch_key` and under its autograd key."""
    library = torch.library.Library("aten", "IMPL")
    for name, check in _CHECKS.items():
        packet, _, overload = name.partition(".")
        op = getattr(getattr(torch.ops.aten, packet), overload or "default")
        for key in (dispatch_key, f"Autograd{dispatch_key}"):
            library.impl(name, _hop(op, check), key)
    return library
