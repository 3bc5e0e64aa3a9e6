"""Modules that `DataParallel` replicates, and how their code asks where they are.

A replica has its parameters as plain attributes: `parameters()` of it is empty since PyTorch 1.5,
and `next(self.parameters())` raises StopIteration as soon as there are two GPUs
(`torch.nn.parallel.replicate`). A parameter that is named is there.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cached_property

from samedevice.inference import Solution
from samedevice.inference.objects import Instance
from samedevice.inference.values import Tensor

_REPLICATING = re.compile(r"\bDataParallel\b|\bdata_parallel\b|\breplicate\(")

#: Layers that always have a parameter of that name (torch.nn: the classes' `__init__`).
_NAMED = (
    (
        re.compile(r"torch\.nn\.(Bilinear|Conv(Transpose)?\dd|Embedding(Bag)?|Linear|PReLU)"),
        "weight",
    ),
    (re.compile(r"torch\.nn\.(GRU|LSTM|RNN)"), "weight_ih_l0"),
    (re.compile(r"torch\.nn\.(GRU|LSTM|RNN)Cell"), "weight_ih"),
)
_DEPTH = 4  # parts of parts that are looked into


class Replicas:
    """Whether a project replicates modules."""

    def __init__(self, solution: Solution) -> None:
        self._sources = solution.project.sources

    @cached_property
    def any(self) -> bool:
        """Tell whether some file speaks of it: which modules it means is not asked."""
        return any(_REPLICATING.search(each.text) for each in self._sources.values())


def named_tensor(modules: Collection[Instance], without: Collection[str] = ()) -> str:
    """Return a parameter or buffer that each of some modules has, as their code names it, or "".

    `without` some of their attributes, which may not be there yet.
    """
    own = {module.wrapped() or module for module in modules}
    named = [dict.fromkeys(_named(module, without, _DEPTH)) for module in own]
    common = [name for name in named[0] if all(name in each for each in named)]
    return min(common, key=lambda name: name.count(".") + name.count("["), default="")


def _named(module: Instance, without: Collection[str], depth: int) -> list[str]:
    direct, within = [], []
    for name, value in module.attrs.items():
        if name in without:
            continue
        if isinstance(value, Tensor) and name.isidentifier() and module.holds(value):
            if value.leaf or value.parameter or name in module.buffers:
                direct.append(name)
        elif isinstance(value, Instance) and value.family == "module" and not value.absent:
            part = name if name.isidentifier() else f"[{name}]" if name.isdigit() else ""
            if part and value.parent is module:
                within += [_joined(part, inner) for inner in _of_part(value, depth)]
    return direct + within


def _of_part(part: Instance, depth: int) -> list[str]:
    if part.cls is None:
        found = [attr for names, attr in _NAMED if names.fullmatch(part.name)]
        if found:
            return found
    return _named(part, (), depth - 1) if depth else []


def _joined(part: str, inner: str) -> str:
    return f"{part}{inner}" if inner.startswith("[") else f"{part}.{inner}"
