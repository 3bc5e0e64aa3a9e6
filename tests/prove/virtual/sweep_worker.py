"""One part of the sweep: operations of torch's own database, on the virtual accelerator.

`python sweep_worker.py PART PARTS FILE` writes {"rows": [[kind, name, what, outcome], ...]}.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from samedevice.prove.clash import read_message
from samedevice.prove.virtual import install

install("cuda", 2)

import torch  # noqa: E402
from torch import Tensor  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402
from torch.testing._internal.common_modules import module_db  # noqa: E402
from torch.utils._pytree import tree_flatten, tree_unflatten  # noqa: E402

SAMPLES = 1  # of an operation
LEAVES = 3  # of a sample that are moved
Place = Callable[[int, Tensor], Tensor]
Row = tuple[str, str, str, str]

# What they return is not a function of their input (uninitialised, or drawn on another way).
_UNSTEADY = (
    *("empty", "new_empty", "empty_like", "empty_strided", "empty_permuted"),
    *("new_empty_strided", "resize_", "resize_as_"),
)


def _run(call: Callable[[], Any]) -> tuple[str, Any]:
    """Return how a call ends, and its result: "ends", "refused" or "Type: message"."""
    torch.manual_seed(0)
    try:
        return "ends", call()
    except Exception as error:
        text = str(error)
        refused = read_message(text) is not None or is_about_devices(text)
        first = text.partition("\n")[0][:80]
        return "refused" if refused else f"{type(error).__name__}: {first}", None


def is_about_devices(text: str) -> bool:
    """Tell whether a message is one of those that torch has for operands in several places."""
    return "CPU scalars" in text or re.search(r"[Dd]evice", text) is not None


def _difference(one: Any, two: Any) -> str:
    """Say how two results compare: "equal", "near" or "differs"."""
    ones, twos = tree_flatten(one)[0], tree_flatten(two)[0]
    if len(ones) != len(twos):
        return "differs"
    found = "equal"
    for a, b in zip(ones, twos, strict=True):
        if not isinstance(a, Tensor) or not isinstance(b, Tensor):
            if a != b and a == a:
                return "differs"
            continue
        if a.shape != b.shape or a.dtype != b.dtype:
            return "differs"
        a, b = _plain(a), _plain(b)
        if not torch.equal(a, b) and not torch.allclose(a, b, rtol=0, atol=0, equal_nan=True):
            if not torch.allclose(a, b, rtol=1e-3, atol=1e-3, equal_nan=True):
                return "differs"
            found = "near"
    return found


def _plain(tensor: Tensor) -> Tensor:
    tensor = tensor.detach().cpu().resolve_conj()
    if tensor.layout is not torch.strided:
        tensor = tensor.to_dense()
    return tensor.to(torch.complex64) if tensor.dtype is torch.complex32 else tensor


class _Call:
    """An operation and a sample, whose tensors can be placed one by one."""

    def __init__(self, op: Any, sample: Any, options: dict[str, Any] | None = None) -> None:
        self.op = op
        given = (sample.input, sample.args, sample.kwargs)
        self._flat, self._form = tree_flatten(given)
        self.places = [at for at, value in enumerate(self._flat) if isinstance(value, Tensor)]
        self._options = options or {}

    def arguments(self, place: Place) -> tuple[Any, Any, Any]:
        flat = list(self._flat)
        for number, at in enumerate(self.places):
            value = flat[at]
            copy = value.detach().clone()
            flat[at] = place(number, copy).requires_grad_(value.requires_grad)
        return tree_unflatten(flat, self._form)

    def __call__(self, place: Place, device: str | None = None) -> tuple[str, Any]:
        return self.made(self.arguments(place), device)

    def made(self, arguments: tuple[Any, Any, Any], device: str | None = None) -> tuple[str, Any]:
        given, args, kwargs = arguments
        kwargs = {**kwargs, **self._options}
        if device is not None and "device" in kwargs:
            kwargs["device"] = device
        return _run(lambda: self.op(given, *args, **kwargs))


def _arrangements(leaves: int) -> Iterator[tuple[str, Place]]:
    for one in range(min(leaves, LEAVES)):
        yield "one on the host", lambda n, x, one=one: x if n == one else x.cuda()
        yield "one on the other device", lambda n, x, one=one: x.to(f"cuda:{int(n == one)}")
        yield "a 0-dim host scalar", lambda n, x, one=one: _scalar(x) if n == one else x.cuda()
        if leaves > 2:
            yield "all but one on the host", lambda n, x, one=one: x.cuda() if n == one else x


def _scalar(tensor: Tensor) -> Tensor:
    return tensor.flatten()[0].clone() if tensor.numel() else tensor


def _samples(op: Any, dtype: torch.dtype) -> list[Any]:
    with contextlib.suppress(Exception):
        found = op.sample_inputs("cpu", dtype)
        return [sample for _, sample in zip(range(SAMPLES), found, strict=False)]
    return []


def values(op: Any, samples: list[Any]) -> Iterator[Row]:
    """Compare an operation on the device with the CPU's, also with `out=`."""
    name = op.full_name
    for sample in samples:
        call = _Call(op, sample)
        end, expected = call(lambda n, x: x)
        if end != "ends":
            continue
        ended, result = call(lambda n, x: x.cuda(), "cuda")
        outcome = ended
        if ended == "ends":
            outcome = "ends" if name in _UNSTEADY else _difference(result, expected)
        yield "values", name, "all on the device", outcome
        if op.supports_out and isinstance(expected, Tensor) and ended == "ends":
            out = torch.empty_like(expected, device="cuda")
            ended, result = _Call(op, sample, {"out": out})(lambda n, x: x.cuda(), "cuda")
            outcome = ended
            if ended == "ends":
                outcome = "ends" if name in _UNSTEADY else _difference(out, expected)
            yield "values", name, "out= on the device", outcome
            out = torch.empty_like(expected)
            ended, _ = _Call(op, sample, {"out": out})(lambda n, x: x.cuda(), "cuda")
            yield "out", name, "out= on the host", ended


def places(op: Any, samples: list[Any]) -> Iterator[Row]:
    """Place operands apart; ask torch's fake tensors, which have a rule of their own, too."""
    name = op.full_name
    for sample in samples:
        call = _Call(op, sample)
        if call(lambda n, x: x.cuda(), "cuda")[0] != "ends":
            continue
        for what, place in _arrangements(len(call.places)):
            if len(call.places) < 2:
                continue
            end, expected = call(_on_host(place))
            if end != "ends":  # it takes no 0-dim tensor there, wherever that is
                continue
            ended, result = call(place)
            if ended == "ends" and name not in _UNSTEADY:
                ended = f"ends, {_difference(result, expected)}"
            yield "places", name, what, f"{ended} | {_fake(call, place)}"


def _on_host(place: Place) -> Place:
    return lambda n, x: place(n, x).cpu()


def _fake(call: _Call, place: Place) -> str:
    mode = FakeTensorMode(allow_non_fake_inputs=False)
    arguments = call.arguments(lambda n, x: mode.from_tensor(place(n, x)))
    with mode:
        ended, _ = call.made(arguments)
    return ended if ended in ("ends", "refused") else "other"


def dtypes(op: Any) -> Iterator[Row]:
    """Compare the types of numbers that work with those that torch says CUDA has."""
    cuda = set(op.dtypesIfCUDA)
    for dtype in sorted(cuda | set(op.dtypes), key=str):
        made = _samples(op, dtype)
        ends = [_Call(op, sample)(lambda n, x: x.cuda(), "cuda")[0] for sample in made]
        if not ends:
            continue
        works = ends[-1] == "ends"
        kind = str(dtype).removeprefix("torch.")
        if works == (dtype in cuda):
            yield "dtypes", op.full_name, kind, "agrees"
        else:
            outcome = "too lenient" if works else f"too strict ({ends[-1]})"
            yield "dtypes", op.full_name, kind, outcome


def modules(info: Any) -> Iterator[Row]:
    """Compare a module on the device with the CPU's, and hand it inputs from the host."""
    name = info.name
    for training in (True, False):
        with contextlib.suppress(Exception):
            inputs = info.module_inputs_func(
                info, device="cpu", dtype=torch.float32, requires_grad=False, training=training
            )
            for _, one in zip(range(SAMPLES), inputs, strict=False):
                yield from _module(info, name, one, training)


def _module(info: Any, name: str, one: Any, training: bool) -> Iterator[Row]:
    torch.manual_seed(0)
    made = info.module_cls(*one.constructor_input.args, **one.constructor_input.kwargs)
    made.train(training)
    state = {key: value.clone() for key, value in made.state_dict().items()}

    def forward(module: str, inputs: str) -> tuple[str, Any]:
        made.load_state_dict(state)
        made.to(module)
        given, form = tree_flatten((one.forward_input.args, one.forward_input.kwargs))
        given = [x.clone().to(inputs) if isinstance(x, Tensor) else x for x in given]
        args, kwargs = tree_unflatten(given, form)
        return _run(lambda: made(*args, **kwargs))

    end, expected = forward("cpu", "cpu")
    if end != "ends":
        return
    ended, result = forward("cuda", "cuda")
    outcome = _difference(result, expected) if ended == "ends" else ended
    yield "modules", name, "on the device", outcome
    if any(True for _ in made.parameters()):
        yield "modules", name, "input on the host", forward("cuda", "cpu")[0]
        yield "modules", name, "left on the host", forward("cpu", "cuda")[0]


def main() -> None:
    """Sweep one part."""
    part, parts = int(sys.argv[1]), int(sys.argv[2])
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    rows: list[Row] = []
    for op in op_db[part::parts]:
        if op.name.startswith("jiterator") or not op.dtypes:  # they are for a GPU alone
            continue
        dtype = torch.float32 if torch.float32 in op.dtypes else min(op.dtypes, key=str)
        samples = _samples(op, dtype)
        for found in (values(op, samples), places(op, samples), dtypes(op)):
            rows += found
    for info in module_db[part::parts]:
        rows += modules(info)
    Path(sys.argv[3]).write_text(json.dumps({"rows": rows}), "utf-8")


if __name__ == "__main__":
    main()
