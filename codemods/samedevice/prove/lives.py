"""How every tensor got its place: by which line it was made, and by which ones it was moved.

Kept by storage, not by tensor: a parameter, its `.data`, a view and a detached tensor are different
tensors in one place. Needs torch.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any, NamedTuple

from samedevice.prove.clash import Step
from samedevice.prove.frames import source_line

_MOST_STEPS = 8  # of one tensor: the first and the last ones


class _Life(NamedTuple):
    """Steps as (how, device, file, line); `born` orders lives by their last creation or move."""

    born: int
    steps: tuple[tuple[Any, str, str, int], ...]


_UNKNOWN = _Life(0, ())


class _Reference(weakref.ref[Any]):
    """A weak reference to a storage, which torch keeps one Python object for."""

    __slots__ = ("key",)
    key: int


class Lives:
    """The lives of all storages that are still there.

    An address that is free again may be another storage's, so a life ends with its storage.
    """

    def __init__(self) -> None:
        self._lives: dict[int, _Life] = {}
        self._references: dict[int, _Reference] = {}
        self._born = 0
        self.refused: list[Any] = []  # the operands of the last operation that places stopped

    def made(self, tensor: Any, how: str, at: tuple[str, int]) -> None:
        """Note that `tensor` was created or loaded at a line (`how`)."""
        self._begin(tensor, ((how, str(tensor.device), *at),))

    def moved(self, source: Any, target: Any, at: tuple[str, int]) -> None:
        """Note that `target` is `source` on another device."""
        before = self._lives.get(storage_of(source), _UNKNOWN).steps
        self._begin(target, (*before, ("moved", str(target.device), *at)))

    def computed(self, tensor: Any, operands: Iterable[Any], at: tuple[str, int]) -> None:
        """Note that `tensor` is the result of an operation.

        Its place is its operands'; of these the one that got there last is named, since that is the
        data rather than a parameter.
        """
        origin = _UNKNOWN
        for operand in operands:
            life = self._lives.get(storage_of(operand))
            if life is not None and life.born > origin.born:
                origin = life
        steps = origin.steps
        if steps and steps[-1][0] == "computed":
            steps = steps[:-1]
        self._keep(tensor, _Life(origin.born, (*steps, ("computed", str(tensor.device), *at))))

    def knows(self, tensor: Any) -> bool:
        """Tell whether the storage of `tensor` has a life."""
        return storage_of(tensor) in self._lives

    def steps(self, tensor: Any) -> tuple[Step, ...]:
        """Return how a tensor got where it is, its creation first; () when that was not seen."""
        return tuple(
            Step(how, device, source_line(file, line), file, line)
            for how, device, file, line in self._lives.get(storage_of(tensor), _UNKNOWN).steps
        )

    def _begin(self, tensor: Any, steps: tuple[tuple[Any, str, str, int], ...]) -> None:
        if len(steps) > _MOST_STEPS:
            steps = steps[:1] + steps[1 - _MOST_STEPS :]
        self._born += 1
        self._keep(tensor, _Life(self._born, steps))

    def _keep(self, tensor: Any, life: _Life) -> None:
        key = storage_of(tensor)
        if not key:
            return
        if key not in self._references:
            reference = _Reference(tensor.untyped_storage(), self._end)
            reference.key = key
            self._references[key] = reference
        self._lives[key] = life

    def _end(self, reference: _Reference) -> None:
        self._references.pop(reference.key, None)
        self._lives.pop(reference.key, None)


def storage_of(tensor: Any) -> int:
    """Return the number of a tensor's storage; 0 for tensors that have none (sparse ones)."""
    try:
        return tensor.untyped_storage()._cdata  # type: ignore[no-any-return]
    except (RuntimeError, NotImplementedError):
        return 0
