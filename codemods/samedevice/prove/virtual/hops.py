"""Whole functions that torch composes differently on CUDA: they take the CPU's way here.

A recurrent network, say, is a chain of products on the CPU and one fused kernel on CUDA. So that
the values are the CPU's to the last bit, its tensors go to the host (without a copy), the CPU's
composition runs there with a graph of its own, and the results come back.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_flatten, tree_unflatten

from samedevice.prove.virtual import rules
from samedevice.prove.virtual.bridge import to_device, to_host
from samedevice.prove.virtual.state import STATE

is_tracing = torch._C._get_tracing_state

Check = Callable[[Any, tuple[Any, ...], dict[str, Any]], None]


class _ToHost(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, device: Tensor) -> Tensor:
        ctx.index = device.get_device()
        return to_host(device)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _ToDevice.apply(grad, ctx.index)


class _ToDevice(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, host: Tensor, index: int) -> Tensor:
        return to_device(host, index)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _ToHost.apply(grad), None


class _OnHost(torch.autograd.Function):  # type: ignore[misc]
    """Call a function of tensors with host tensors; its own graph stays inside.

    Only a backward pass that is to be differentiated again runs the function itself.
    """

    @staticmethod
    def forward(
        ctx: Any, function: Callable[..., Any], index: int, refusal: str, *given: Tensor
    ) -> Any:
        leaves = [
            (to_host(tensor) if tensor.get_device() >= 0 else tensor)
            .detach()
            .requires_grad_(needed)
            for tensor, needed in zip(given, ctx.needs_input_grad[3:], strict=True)
        ]
        with _disable_current_modes(), torch.set_grad_enabled(any(ctx.needs_input_grad)):
            results = function(*leaves)
        ctx.function, ctx.index, ctx.leaves, ctx.results = function, index, leaves, results
        ctx.refusal = refusal
        ctx.save_for_backward(*given)
        return tuple(to_device(result.detach(), index) for result in results)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        if ctx.refusal:
            raise RuntimeError(ctx.refusal)
        given = ctx.saved_tensors
        if torch.is_grad_enabled():
            inputs = [tensor for tensor in given if tensor.requires_grad]
            hosts = [
                _ToHost.apply(tensor) if tensor.get_device() >= 0 else tensor for tensor in given
            ]
            results = [_ToDevice.apply(result, ctx.index) for result in ctx.function(*hosts)]
            found = torch.autograd.grad(
                results, inputs, grads, create_graph=True, allow_unused=True
            )
        else:
            inputs = [tensor for tensor in ctx.leaves if tensor.requires_grad]
            with _disable_current_modes():
                found = torch.autograd.grad(
                    ctx.results,
                    inputs,
                    [to_host(grad) for grad in grads],
                    retain_graph=True,
                    allow_unused=True,
                )
            found = tuple(None if grad is None else to_device(grad, ctx.index) for grad in found)
        rest = iter(found)
        return (
            *(None, None, None),
            *(next(rest) if needed else None for needed in ctx.needs_input_grad[3:]),
        )


@contextlib.contextmanager
def _hosts_attention() -> Iterator[None]:
    """Let the CPU choose among its own kinds of attention, whichever ones CUDA may use."""
    flash, math = torch._C._get_flash_sdp_enabled(), torch._C._get_math_sdp_enabled()
    torch._C._set_sdp_use_flash(True)
    torch._C._set_sdp_use_math(True)
    try:
        yield
    finally:
        torch._C._set_sdp_use_flash(flash)
        torch._C._set_sdp_use_math(math)


def _hop(op: Any, check: Check) -> Callable[..., Any]:
    call = op._op
    traced = _TRACED.get(op._schema.name.rpartition("::")[2])
    names = [argument.name for argument in op._schema.arguments]
    train = names.index("train") if "train" in names else None

    def kernel(*args: Any, **kwargs: Any) -> Any:
        check(op, args, kwargs)
        if traced is not None and is_tracing():
            return traced(*args, **kwargs)
        flat, form = tree_flatten((args, kwargs))
        places = [place for place, value in enumerate(flat) if isinstance(value, Tensor)]
        index = next(flat[place].get_device() for place in places if flat[place].get_device() >= 0)
        shape: list[Any] = []

        def function(*hosts: Tensor) -> tuple[Tensor, ...]:
            values = list(flat)
            for place, host in zip(places, hosts, strict=True):
                values[place] = host
            host_args, host_kwargs = tree_unflatten(values, form)
            with _hosts_attention():
                result = call(*host_args, **host_kwargs)
            shape[:] = [type(result)]
            return (result,) if isinstance(result, Tensor) else tuple(result)

        refusal = _refusal(train, args, kwargs)
        results = _OnHost.apply(function, index, refusal, *(flat[place] for place in places))
        return results[0] if shape[0] is Tensor else results

    return kernel


def _refusal(train: int | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return why the backward pass of a recurrent network will be refused, if it will be.

    cuDNN keeps what it needs for it in training only. `train` is the place of that argument.
    """
    if train is None or STATE.device_type != "cuda" or not torch._C._get_cudnn_enabled():
        return ""
    trains = args[train] if train < len(args) else kwargs["train"]
    return "" if trains else "cudnn RNN backward can only be called in training mode"


def _check_rnn(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    names = [argument.name for argument in op._schema.arguments]
    given = dict(zip(names, args, strict=False)) | kwargs
    first = given["input"] if "input" in given else given["data"]
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
    given = dict(zip(names, args, strict=False)) | kwargs
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
            "Expected all tensors to be on the same device, but got attn_bias is on "
            f"{mask[0].device}, "
            f"different from other tensors on {query.device} (when checking argument in method "
            "wrapper_CUDA___scaled_dot_product_efficient_attention)"
        )


_CHECKS: dict[str, Check] = {
    **{
        f"{kind}.{form}": _check_rnn
        for kind in ("lstm", "gru", "rnn_tanh", "rnn_relu")
        for form in ("input", "data")
    },
    **{f"{kind}_cell": _check_cell for kind in ("lstm", "gru", "rnn_tanh", "rnn_relu")},
    "scaled_dot_product_attention": _check_attention,
}


def _lstm_cell(
    input: Tensor,
    hx: list[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    linear = torch.nn.functional.linear
    gates = linear(input, w_ih, b_ih) + linear(hx[0], w_hh, b_hh)
    first, forget, cell, output = gates.chunk(4, 1)
    state = forget.sigmoid() * hx[1] + first.sigmoid() * cell.tanh()
    return output.sigmoid() * state.tanh(), state


def _gru_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    linear = torch.nn.functional.linear
    reset_in, update_in, new_in = linear(input, w_ih, b_ih).chunk(3, 1)
    reset_of, update_of, new_of = linear(hx, w_hh, b_hh).chunk(3, 1)
    update = (update_in + update_of).sigmoid()
    new = (new_in + (reset_in + reset_of).sigmoid() * new_of).tanh()
    return (hx - new) * update + new


def _rnn_cell(activation: Callable[[Tensor], Tensor]) -> Callable[..., Tensor]:
    def cell(
        input: Tensor,
        hx: Tensor,
        w_ih: Tensor,
        w_hh: Tensor,
        b_ih: Tensor | None = None,
        b_hh: Tensor | None = None,
    ) -> Tensor:
        linear = torch.nn.functional.linear
        return activation(linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh))

    return cell


# `torch.jit.trace` skips these operations and records what they are composed of.
_TRACED: dict[str, Callable[..., Any]] = {
    "lstm_cell": _lstm_cell,
    "gru_cell": _gru_cell,
    "rnn_tanh_cell": _rnn_cell(torch.tanh),
    "rnn_relu_cell": _rnn_cell(torch.relu),
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
