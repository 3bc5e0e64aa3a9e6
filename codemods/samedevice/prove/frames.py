"""Which lines are the user's: neither Python's, nor an installed package's, nor samedevice's."""

from __future__ import annotations

import functools
import linecache
import os
import site
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, TracebackType

_OURS = str(Path(__file__).resolve().parent.parent) + os.sep
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_PYTHON = tuple(
    os.path.realpath(path) + os.sep
    for path in {
        sysconfig.get_path("stdlib"),
        sysconfig.get_path("platstdlib"),
        *site.getsitepackages(),
    }
    if path
)


@functools.cache
def is_users(file: str) -> bool:
    """Tell whether a code object's file is the user's own."""
    if file.startswith("<ipython-input-"):  # a cell in a terminal
        return True
    if file.startswith("<"):  # frozen modules, exec'd strings
        return False
    if any(part in file for part in _INSTALLED):
        return False
    real = os.path.realpath(file)
    return not real.startswith(_OURS) and not real.startswith(_PYTHON)


def user_line() -> tuple[str, int]:
    """Return file and line of the innermost frame of the user's on the stack.

    ("", 0) when there is none, as in an engine's own thread.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return "", 0


def tracebacks(trace: TracebackType | None) -> Iterator[TracebackType]:
    """Yield a traceback's entries, the innermost last."""
    while trace is not None:
        yield trace
        trace = trace.tb_next


def source_line(file: str, line: int) -> str:
    """Return a line of a file without its indentation, or "" when it cannot be read."""
    return linecache.getline(file, line).strip()
