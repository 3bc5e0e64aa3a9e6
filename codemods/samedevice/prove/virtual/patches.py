"""Change attributes of torch so that every change can be taken back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_MISSING = object()


class Patches:
    """Attributes that were set, with what they were before."""

    def __init__(self) -> None:
        self._old: list[tuple[Any, str, Any]] = []
        self._last: list[Callable[[], object]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute of a module or class, new or not."""
        old = owner.__bases__ if name == "__bases__" else vars(owner).get(name, _MISSING)
        self._old.append((owner, name, old))
        setattr(owner, name, value)

    def switch(self, turn: Callable[[Any], object], old: Any, new: Any) -> None:
        """Turn one of torch's switches, which are functions, from `old` to `new`."""
        self._last.append(lambda: turn(old))
        turn(new)

    def undo(self) -> None:
        """Restore all attributes, the last one first, and the switches."""
        while self._last:
            self._last.pop()()
        for owner, name, value in reversed(self._old):
            if value is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
        self._old.clear()
