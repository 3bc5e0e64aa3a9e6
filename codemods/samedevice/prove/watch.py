"""Watch a running program: fills a `Record` and the `Lives` of its tensors. Needs torch.

One dispatch mode below the program sees every operation after autograd, those of the backward pass
included, on any device. Optimizers and losses are noted as ever (`prove.steps`). Threads of the
program's own are not watched.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakIdKeyDictionary

from samedevice.prove.clash import read_message
from samedevice.prove.frames import source_line, user_line
from samedevice.prove.lives import Lives
from samedevice.prove.record import Record, Refusal, Transfer
from samedevice.prove.steps import Steps, followed, sum_of, tensors
from samedevice.prove.unwatched import as_unwatched

_aten = torch.ops.aten
_NUMBERS = frozenset([bool, int, float, complex])
_KEPT_REFUSALS = 20

# What an operation does to places, where its schema does not tell.
_DEEDS = {
    _aten._to_copy: "move",
    # torch.tensor(data, device=...) and torch.from_numpy end in this one. The copy to the device
    # happens below any mode, so it has no time of its own.
    _aten.lift_fresh: "lift",
    _aten.copy_: "copy",
    _aten._local_scalar_dense: "read",
    _aten.index: "index",
    _aten.index_put_: "put",
    _aten._index_put_impl_: "put",
    # These make the host wait, for the size of their result depends on values.
    _aten.nonzero: "size",
    _aten.masked_select: "size",
    _aten._unique2: "size",
    _aten.unique_dim: "size",
    _aten.unique_consecutive: "size",
    _aten.equal: "size",
    _aten.detach: "view",
    _aten.alias: "view",
}


def _call(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Call an operation; traced modules hand over numbers where it takes 0-dim tensors."""
    try:
        return func(*args, **kwargs)
    except RuntimeError as error:
        if "Expected a value of type 'Tensor' for argument" not in str(error):
            raise
    if func is _aten._local_scalar_dense.default:
        return args[0]
    wanted = (str(argument.type) for argument in func._schema.arguments)
    given = (
        torch.tensor(value) if kind == "Tensor" and type(value) in _NUMBERS else value
        for value, kind in zip(args, wanted, strict=False)
    )
    return func(*given, **kwargs)


def _deed(function: Any) -> str:
    """Name what an operation does: one of `_DEEDS`, "load", "change", "create" or "compute"."""
    packet = getattr(function, "overloadpacket", None)
    if packet is None:  # a higher-order operation: its parts are seen
        return "view"
    if packet in _DEEDS:
        return _DEEDS[packet]
    if packet is _aten.set_ and "Storage" in function._overloadname:
        return "load"  # how torch.load, pickle and a loader's workers give data to a tensor
    returns = function._schema.returns
    aliases = [one.alias_info for one in returns if one.alias_info is not None]
    if aliases and not any(alias.is_write for alias in aliases):
        return "view"
    if aliases or not returns:
        return "change"
    name = str(packet)
    return "create" if name.endswith("_like") or name.startswith("aten.new_") else "compute"


class Watch(TorchDispatchMode):  # type: ignore[misc]  # torch is not type-checked here
    """The mode.

    `timed` also measures how long transfers take, which a real device tells. `places` alone keeps
    how tensors that are still there got their places, for the clash that may come, and no more.
    """

    supports_higher_order_operators = True

    def __init__(self, timed: bool, places: bool = False) -> None:
        super().__init__()
        self._places = places
        self.lives = Lives()
        self._timed = timed
        # By the operation's id, for its hash is slow Python; operations live as long as torch.
        self._counts: defaultdict[str, Counter[int]] = defaultdict(Counter)
        self._deeds: dict[int, tuple[str, Any]] = {}
        self._transfers: dict[tuple[str, str, str, str, int], Transfer] = {}
        self._moved = WeakIdKeyDictionary()
        self.steps = Steps(self._read, sums=True)
        self._refused: list[Refusal] = []
        self._floats: set[Any] = set()
        self._pause = False

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Torch would keep its compiler out of here by importing it at the first operation: a second
        # for every program. `_skip` does the same for nothing.
        return False

    def record(self) -> Record:
        """Return what was seen so far. Safe to call from a signal handler."""
        operations: dict[str, dict[str, int]] = {}
        for device, counts in list(self._counts.items()):
            names: Counter[str] = Counter()
            for key, count in list(counts.items()):
                function = self._deeds[key][1]
                names[str(function.overloadpacket).removeprefix("aten.")] += count
            operations[device] = dict(names.most_common())
        transfers = sorted(list(self._transfers.values()), key=lambda one: -one.cost)
        for transfer in transfers:
            transfer.text = source_line(transfer.file, transfer.line)
        record = Record(
            operations,
            transfers,
            refused=self._refused,
            floats=sorted(str(kind).removeprefix("torch.") for kind in list(self._floats)),
        )
        pause, self._pause = self._pause, True
        try:
            return self.steps.into(record)
        finally:
            self._pause = pause

    def _read(self, tensor: Any) -> float:
        self._pause = True
        try:
            return sum_of(tensor)
        finally:
            self._pause = False

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run the operation and note what it did."""
        kwargs = kwargs or {}
        if self._pause:
            return func(*args, **kwargs)
        started = time.perf_counter() if self._timed else 0.0
        try:
            result = _call(func, args, kwargs)
        except Exception as error:
            message = read_message(str(error))
            if message is not None and message.kind != "memory":  # that one wants tensors freed
                self.lives.refused = list(tensors((*args, *kwargs.values())))
                self._refuse(str(error))
            raise
        known = self._deeds.get(id(func))
        if known is None:
            known = self._deeds[id(func)] = _deed(func), func
        deed = known[0]
        if deed == "view":
            return result
        seconds = time.perf_counter() - started if self._timed else None
        operands = list(tensors(args))
        subject = operands[0] if operands else next(tensors((result,)), None)
        if subject is not None and not self._crossed(deed, subject, result, args, kwargs, seconds):
            if not self._places:
                self._counts[str(subject.device)][id(func)] += 1
            if deed not in ("change", "put", "read", "copy"):
                at = user_line()
                for tensor in tensors((result,)):
                    if deed == "create" or not operands:
                        self.lives.made(tensor, "created", at)
                    else:
                        self.lives.computed(tensor, operands, at)
                        if tensor.dtype not in self._floats and tensor.is_floating_point():
                            self._floats.add(tensor.dtype)
        return result

    def _refuse(self, message: str) -> None:
        if not self._places and len(self._refused) < _KEPT_REFUSALS:
            file, line = user_line()
            text = source_line(file, line)
            self._refused.append(Refusal(message.split("\n", 1)[0], file, line, text))

    def _crossed(
        self,
        deed: str,
        subject: Any,
        result: Any,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        seconds: float | None,
    ) -> bool:
        """Note the transfers in an operation; tell whether it was nothing else than one."""
        device = str(subject.device)
        match deed:
            case "move":
                target = str(result.device)
                if target == device:
                    return False
                waits = not kwargs.get("non_blocking", False)
                at = self._transfer(device, target, "copy", result, seconds, subject, waits)
                self.lives.moved(subject, result, at)
            case "copy":
                if not isinstance(args[1], torch.Tensor) or args[1].device == subject.device:
                    return False
                waits = not (args[2] if len(args) > 2 else kwargs.get("non_blocking", False))
                source = str(args[1].device)
                self._transfer(source, device, "copy", args[1], seconds, args[1], waits)
            case "lift":
                at = user_line()
                self.lives.made(result, "created", at)
                if device not in ("cpu", "meta"):
                    self._transfer("cpu", device, "data", result, None)
            case "load":
                if not self.lives.knows(subject):
                    self.lives.made(subject, "loaded", user_line())
            case "read" if device != "cpu":
                self._transfer(device, "cpu", "value", subject, seconds)
            case "size" if device != "cpu":
                self._transfer(device, "cpu", "size", None, seconds)
                return False
            case "index" | "put" if device != "cpu":
                for index in tensors((args[1],)):
                    if index.device != subject.device:
                        self._transfer(str(index.device), device, "index", index, None, index)
                    if deed == "index" and index.dtype in (torch.bool, torch.uint8):
                        self._transfer(device, "cpu", "size", None, seconds)
                return False
            case _:
                return False
        return True

    def _transfer(
        self,
        source: str,
        target: str,
        how: str,
        data: Any,
        seconds: float | None,
        moved: Any = None,
        waits: bool = True,
    ) -> tuple[str, int]:
        """Count a transfer for the user's line, and return that."""
        at = user_line()
        if self._places:
            return at
        key = (source, target, how, *at)
        transfer = self._transfers.get(key)
        if transfer is None:
            transfer = self._transfers[key] = Transfer(source, target, how, *at)
        transfer.count += 1
        transfer.nbytes += 0 if data is None else data.numel() * data.element_size()
        transfer.waits += waits and "meta" not in (source, target)
        if seconds is not None:
            transfer.seconds = (transfer.seconds or 0.0) + seconds
        if moved is not None and not moved.is_inference():  # those carry no version
            state = (moved._version, key)
            transfer.again += self._moved.get(moved) == state
            self._moved[moved] = state
        return at


def _skip() -> None:
    """Tell `torch.compile`'s hook on frames to leave this dispatch alone, and all that it calls."""
    frames = torch._C._dynamo.eval_frame
    with contextlib.suppress(AttributeError):  # a release that tells it otherwise: slower, no worse
        nothing = frames._FrameExecStrategy(frames._FrameAction.SKIP, frames._FrameAction.SKIP)
        frames.set_code_exec_strategy(Watch.__torch_dispatch__.__code__, nothing)


_skip()


@contextlib.contextmanager
def watching(timed: bool, places: bool = False) -> Iterator[Watch]:
    """Watch all that runs inside; the program's own modes work as ever."""
    watch = Watch(timed, places)
    with contextlib.nullcontext() if places else followed(watch.steps), as_unwatched(), watch:
        yield watch
