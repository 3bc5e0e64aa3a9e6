"""Change attributes of torch so that every change can be taken back."""

from __future__ import annotations

from typing import Any

_MISSING = object()


class Patches:
    """Attributes that were set, with what they were before."""

    def __init__(self) -> None:
        self._old: list[tuple[Any, str, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute of a module or class, new or not."""
        old = owner.__bases__ if name == "__bases__" else vars(owner).get(name, _MISSING)
        self._old.append((owner, name, old))
        setattr(owner, name, value)

    def undo(self) -> None:
        """Restore all attributes, the last one first."""
        for owner, name, value in reversed(self._old):
            if value is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
        self._old.clear()
