"""A limit of time on what runs in this process."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator


class Hang(Exception):
    """Something took too long."""


@contextlib.contextmanager
def limit(seconds: int) -> Iterator[None]:
    """Raise `Hang` in the block when it takes more than these seconds of the processor."""

    def end(*_: object) -> None:
        raise Hang(f"more than {seconds} seconds")

    old = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old)
