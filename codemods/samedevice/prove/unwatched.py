"""Let torch do under a watching mode what it does without one. Needs torch.

In a few places torch's own code asks whether a dispatch mode looks on, and then goes another way,
which can have another end: the program is to end as it does when nobody watches.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

_TRACERS = frozenset(
    [
        "_create_function_from_trace",
        "_create_function_from_trace_with_dict",
        "_create_graph_by_tracing",
        "_create_method_from_trace",
        "_create_method_from_trace_with_dict",
    ]
)

# What can be an accelerator's, and its own half of an operation that is composed of others.
_BACKENDS = "CUDA", "XPU", "MPS", "HPU", "PrivateUse1"


@contextlib.contextmanager
def as_unwatched() -> Iterator[None]:
    """Go torch's common ways inside, under a mode as well."""
    undo = _traces()
    library = torch.library.Library("aten", "IMPL")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that an operation gets a kernel besides torch's own
            for backend in _BACKENDS:
                library.impl("ctc_loss.Tensor", _ctc_loss, f"Autograd{backend}")
        yield
    finally:
        undo()
        library._destroy()


def _ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int = 1,
    zero_infinity: bool = False,
) -> Any:
    """Hand on the lengths as numbers, unless cuDNN takes them.

    Under a mode torch hands on the tensors, and its kernel refuses those of another place.
    """
    loss = torch.ops.aten.ctc_loss
    given = log_probs, targets, input_lengths, target_lengths, blank
    lengths = input_lengths, target_lengths
    if any(one.is_floating_point() or one.dtype is torch.bool for one in lengths) or (
        log_probs.is_cuda and torch.ops.aten._use_cudnn_ctc_loss.Tensor(*given)
    ):
        composed = torch._C.DispatchKey.CompositeImplicitAutograd
        return loss.Tensor._op_dk(composed, *given, reduction, zero_infinity)
    numbers = [one.to("cpu", torch.long).reshape(-1).tolist() for one in lengths]
    return loss.IntList(log_probs, targets, *numbers, blank, reduction, zero_infinity)


def _traces() -> Callable[[], None]:
    """Let `torch.jit.trace` run without the mode, under which it records results as constants.

    Returns what undoes it.
    """
    places = [
        (owner, name)
        for owner in (torch._C, torch._C.ScriptModule)
        for name in vars(owner)
        if name in _TRACERS
    ]
    old = [getattr(owner, name) for owner, name in places]

    def unwatched(trace: Callable[..., Any]) -> Callable[..., Any]:
        def traced(*args: Any, **kwargs: Any) -> Any:
            alone = torch._C._len_torch_dispatch_stack() == 1
            with _disable_current_modes() if alone else contextlib.nullcontext():
                return trace(*args, **kwargs)

        return traced

    for (owner, name), trace in zip(places, old, strict=True):
        setattr(owner, name, unwatched(trace))

    def undo() -> None:
        for (owner, name), trace in zip(places, old, strict=True):
            setattr(owner, name, trace)

    return undo
