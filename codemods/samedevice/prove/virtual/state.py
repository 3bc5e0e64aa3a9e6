"""What this process knows of its virtual accelerator."""

from __future__ import annotations

import os
import threading
from typing import Any

import torch


class _Thread(threading.local):
    """The current device and stream are each thread's own, as in CUDA."""

    device = 0
    streams: dict[int, int] | None = None


class State:
    """The accelerator's type, how many devices it has."""

    def __init__(self) -> None:
        self.device_type = "cuda"
        self.count = 0
        self.thread = _Thread()
        self.forked = False  # from a process that used the accelerator
        self.sync_mode = 0  # what a hidden wait leads to: nothing, a warning, an error
        self.asserts = False  # whether an index out of bounds ends all use of the device

    def visible(self) -> int:
        """Return how many devices the program may see."""
        allowed = os.environ.get("CUDA_VISIBLE_DEVICES") if self.device_type == "cuda" else None
        if allowed is None:
            return self.count
        names = allowed.strip().split(",") if allowed.strip() not in ("", "-1") else []
        return min(self.count, len(names))

    def check(self, index: int) -> int:
        """Return an index of an existing device; raise what CUDA raises for any other."""
        if not 0 <= index < self.count:
            error: Any = getattr(torch, "AcceleratorError", RuntimeError)
            raise error(
                "CUDA error: invalid device ordinal\n"
                "GPU device may be out of range, do you have enough GPUs?\n"
                "CUDA kernel errors might be asynchronously reported at some other API call, so "
                "the stacktrace below might be incorrect.\n"
                "For debugging consider passing CUDA_LAUNCH_BLOCKING=1"
            )
        return index

    def index(self, device: torch.device | None) -> int:
        """Return the index that a device of the accelerator stands for."""
        if device is None or device.index is None:
            return self.thread.device
        return self.check(device.index)

    def current(self) -> int:
        """Return the calling thread's current device."""
        return self.thread.device

    def exchange(self, index: int) -> int:
        """Make a device the calling thread's current one, if it exists; return the one before."""
        previous = self.thread.device
        if 0 <= index < self.count:
            self.thread.device = index
        return previous


STATE = State()
