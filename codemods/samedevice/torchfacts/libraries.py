"""Facts about the libraries around torch, kept by hand."""

from __future__ import annotations

from samedevice.torchfacts import Fact


def lookup(name: str) -> Fact | None:
    return None


def packages() -> frozenset[str]:
    return frozenset()
