"""Where a program's optimizers step, and what its losses are: fills a part of a `Record`.

Optimizers are seen through torch's own global hooks, losses by wrapping `torch.autograd.backward`.
That costs next to nothing, so it is noted of every run, recorded or not. Needs torch.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from torch.utils.weak import WeakIdKeyDictionary

from samedevice.prove.lives import Lives
from samedevice.prove.record import KEPT_LOSSES, KEPT_STEPS, Losses, Optimizer, Record


class Steps:
    """What is noted of one program.

    `read` gives the sum of a tensor's numbers, None for one that cannot be read; it is None itself
    where that would make the program wait for its device. `sums` keeps the values of parameters
    after their first steps, too.
    """

    def __init__(self, read: Callable[[Any], float | None] | None, sums: bool) -> None:
        self.lives = Lives()  # nobody's: only a `Watch` sees tensors
        self._read = read
        self._sums = sums
        self._optimizers: dict[int, Optimizer] = {}
        self._losses = Losses()
        self._autocast: set[str] = set()
        self._unscaled = WeakIdKeyDictionary()

    def into(self, record: Record) -> Record:
        """Put what was noted so far into a record, and return that."""
        record.optimizers = list(self._optimizers.values())
        record.losses = self._losses
        record.autocast = sorted(self._autocast)
        record.made = _made()
        record.random = _random()
        return record

    def record(self) -> Record:
        """Return what was noted so far. Safe to call from a signal handler."""
        return self.into(Record())

    def stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """Note where the parameters are that an optimizer steps (called by torch)."""
        seen = self._optimizers.get(id(optimizer))
        if seen is None:
            seen = self._optimizers[id(optimizer)] = Optimizer(type(optimizer).__name__)
        seen.steps += 1
        if not self._sums and seen.steps & (seen.steps - 1):
            return  # parameters rarely move: after a step, two, four, eight and so on
        seen.devices = dict(
            Counter(
                str(parameter.device)
                for group in optimizer.param_groups
                for parameter in group["params"]
                if parameter.grad is not None
            )
        )

    def has_stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """Note the values of the parameters after a step (called by torch)."""
        seen = self._optimizers[id(optimizer)]
        if not self._sums or self._read is None or len(seen.sums) >= KEPT_STEPS:
            return
        try:
            total = math.fsum(
                self._read(parameter) or 0.0
                for group in optimizer.param_groups
                for parameter in group["params"]
            )
        except (RuntimeError, ValueError, OverflowError):  # infinite ones, or not to be summed
            total = math.nan
        seen.sums.append(total if math.isfinite(total) else None)

    def scaled(self, loss: Any, result: Any) -> None:
        """Note that `result` is `loss` times the scale of a GradScaler, which CPUs do without."""
        for one, other in zip(tensors((loss,)), tensors((result,)), strict=False):
            if one is not other:
                self._unscaled[other] = one.detach()

    def casts(self, device_type: str) -> None:
        """Note that the program asks for lower precision on a type of devices."""
        self._autocast.add(device_type)

    def lost(self, given: Any) -> None:
        """Note the values that `backward` starts from."""
        losses = self._losses
        for one in tensors((given,)):
            tensor = self._unscaled.get(one, one)
            if tensor.numel() == 0:
                continue
            device = str(tensor.device)
            losses.devices[device] = losses.devices.get(device, 0) + 1
            losses.count += 1
            value = self._read(tensor) if self._read is not None else None
            if value is None:
                continue
            finite = math.isfinite(value)
            losses.infinite += not finite
            if len(losses.values) < KEPT_LOSSES:
                losses.values.append(value if finite else None)


def _random() -> str:
    state = torch.default_generator.get_state().tolist()
    return hashlib.sha256(bytes(state)).hexdigest()[:16]


def _made() -> int:
    from samedevice.prove import virtual

    if virtual.installed() is None:
        return 0
    from samedevice.prove.virtual.memory import MEMORY

    return MEMORY.made()


def sum_of(tensor: Any) -> float:
    """Return the sum of a tensor's numbers (of complex ones their real parts)."""
    return float(tensor.detach().sum().real)


def _sum_beside(tensor: Any) -> float | None:
    """Return the same, read from the memory behind a virtual tensor: the program waits for none."""
    from samedevice.prove.virtual.bridge import to_host

    try:
        if tensor.layout is torch.strided and tensor.get_device() >= 0:
            return sum_of(to_host(tensor.detach()))
        return sum_of(tensor)
    except (RuntimeError, NotImplementedError):  # one that has no memory: of a trace, or batched
        return None


@contextlib.contextmanager
def followed(steps: Steps) -> Iterator[None]:
    """Note what happens inside."""
    hooks = (
        register_optimizer_step_pre_hook(steps.stepped),
        register_optimizer_step_post_hook(steps.has_stepped),
    )
    backward, scale = torch.autograd.backward, torch.amp.GradScaler.scale
    enter = torch.autocast.__enter__

    def backward_of(given: Any, *args: Any, **kwargs: Any) -> Any:
        steps.lost(given)
        return backward(given, *args, **kwargs)

    def scale_of(scaler: Any, outputs: Any) -> Any:
        result = scale(scaler, outputs)
        steps.scaled(outputs, result)
        return result

    def enter_of(autocast: Any) -> Any:
        if autocast._enabled:
            steps.casts(autocast.device)
        return enter(autocast)

    torch.autograd.backward = backward_of
    torch.amp.GradScaler.scale = scale_of
    torch.autocast.__enter__ = enter_of
    try:
        yield
    finally:
        torch.autograd.backward = backward
        torch.amp.GradScaler.scale = scale
        torch.autocast.__enter__ = enter
        for hook in hooks:
            hook.remove()


@contextlib.contextmanager
def noting(waits: bool, sums: bool) -> Iterator[Steps]:
    """Note the steps of what runs inside; the losses too, unless to read one `waits`.

    With `sums` the values of parameters are noted as well.
    """
    steps = Steps(None if waits else _sum_beside, sums)
    with followed(steps):
        yield steps


def tensors(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the tensors among arguments or results, those in lists included."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from tensors(value)
