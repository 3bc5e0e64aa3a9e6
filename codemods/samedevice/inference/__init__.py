"""The inference: a project -> where every tensor and module lives."""

from __future__ import annotations

from samedevice.inference.solution import Solution, infer

__all__ = ["Solution", "infer"]
