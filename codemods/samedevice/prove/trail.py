"""Follow what a run executes: which files of the copy, which changed lines, what is not led.

Python tells an audit hook of every code object that is executed, whoever loaded it, and every file
that is opened. The lines of changed files are told by `sys.monitoring`, or by a trace function
before Python 3.12. Each thing is written down when it is first seen, since processes may end in
ways that leave no time for it. Needs only the standard library.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from samedevice.prove.lead import Lead
from samedevice.prove.sights import Sights
from samedevice.reading.seen import Sight

_SOURCES = (".py", ".pyw", ".ipynb")


@dataclass
class Ran:
    """What a run executed, its own processes' processes included.

    `files` of the copy were executed or read; `lines` are those of changed files that ran;
    `strays` are files of the user's own tree that were executed or, where they are programs, read.
    `sights` are what expressions gave: the file, the expression's name and place, and what it was.
    """

    files: set[str] = field(default_factory=set)
    lines: dict[str, set[int]] = field(default_factory=dict)
    strays: list[str] = field(default_factory=list)
    sights: list[tuple[str, str, list[int], Sight | None]] = field(default_factory=list)


def read(path: Path) -> Ran:
    """Read a trail. A program that runs in the same process can write there: see the docs."""
    found = Ran()
    try:
        text = path.read_text("utf-8", "surrogateescape")
    except OSError:
        return found
    for line in text.split("\0"):
        kind, _, what = line.partition(" ")
        if kind == "file":
            found.files.add(what)
        elif kind == "line":
            number, _, file = what.partition(" ")
            if number.isdigit():
                found.lines.setdefault(file, set()).add(int(number))
        elif kind == "stray" and what not in found.strays:
            found.strays.append(what)
        elif kind == "sight":
            with contextlib.suppress(ValueError):  # it ended in the middle of a line
                found.sights.append(tuple(json.loads(what)))
    return found


class _Trail:
    def __init__(self, lead: Lead) -> None:
        self._lead = lead
        self._seen: set[str] = set()
        self._changed = frozenset(lead.changed)
        self._path_of = functools.lru_cache(1 << 14)(self._look)
        self._step: Callable[[CodeType], None] | None = None

    def _look(self, name: str) -> tuple[str, str]:
        """Return what a file is, by its name in a code object or an `open`, and its path."""
        if not name or name.startswith("<"):
            return "", ""
        path = os.path.abspath(name)
        if path.startswith(self._lead.copy + os.sep):
            return "file", path
        if self._lead.to_copy(path) is not None:
            return "stray", path
        return "", ""

    def _write(self, line: str) -> None:
        """Write a line unless it was written; opened each time, as programs close what is open."""
        if line in self._seen:
            return
        self._seen.add(line)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        with contextlib.suppress(OSError):
            file = os.open(self._lead.trail, flags, 0o600)
            try:
                os.write(file, f"{line}\0".encode("utf-8", "surrogateescape"))
            finally:
                os.close(file)

    def audit(self, event: str, args: tuple[Any, ...]) -> None:
        """Take one event of Python's; never raises, for that would stop the program."""
        if event not in ("exec", "open", "import"):
            return
        try:
            if event == "exec" and isinstance(args[0], CodeType):
                self._executed(args[0])
            elif event == "open" and isinstance(args[0], (str, bytes)):
                self._opened(os.fsdecode(args[0]), args[1], args[2])
            elif event == "import" and isinstance(args[1], str):  # an extension module's file
                kind, path = self._path_of(args[1])
                if kind:
                    self._write(f"{kind} {path}")
        except Exception:  # noqa: BLE001  # whatever it is, it is not the program's
            return

    def _executed(self, code: CodeType) -> None:
        kind, path = self._path_of(code.co_filename)
        if kind:
            self._write(f"{kind} {path}")
            if self._step is not None and path in self._changed:
                self._step(code)

    def _opened(self, name: str, mode: Any, flags: Any) -> None:
        """Note that a file is read: a changed one of the copy's, or a program in the user's tree.

        Modules are opened to be executed, which is seen for itself.
        """
        if isinstance(mode, str) and not mode.startswith("r"):
            return
        if mode is None and isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR):
            return
        kind, path = self._path_of(name)
        if kind == "file":
            if path in self._changed and not path.endswith(_SOURCES):
                self._write(f"file {path}")
        elif kind == "stray" and path.endswith(_SOURCES) and not _told():
            self._write(f"stray {path}")

    def _line(self, code: CodeType, number: int) -> None:
        self._write(f"line {number} {self._path_of(code.co_filename)[1]}")

    def lines(self) -> None:
        """Follow the lines of changed files, in all threads."""
        if sys.version_info >= (3, 12):
            self._monitor()
            return

        changed = functools.cache(lambda name: self._path_of(name)[1] in self._changed)

        def step(frame: FrameType, event: str, arg: Any) -> Any:
            if event == "line":
                self._line(frame.f_code, frame.f_lineno)
            return step

        def trace(frame: FrameType, event: str, arg: Any) -> Any:
            return step if changed(frame.f_code.co_filename) else None

        threading.settrace(trace)
        sys.settrace(trace)

    def _monitor(self) -> None:
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        for tool in (4, 3):  # the numbers that no kind of tool has for its own
            with contextlib.suppress(ValueError):
                monitoring.use_tool_id(tool, "samedevice")
                break
        else:
            return

        def ran(code: CodeType, number: int) -> Any:
            self._line(code, number)
            return monitoring.DISABLE

        def follow(code: CodeType) -> None:
            monitoring.set_local_events(tool, code, monitoring.events.LINE)
            for constant in code.co_consts:
                if isinstance(constant, CodeType):
                    follow(constant)

        monitoring.register_callback(tool, monitoring.events.LINE, ran)
        self._step = follow


def _told() -> bool:
    """Tell whether a file is read only to be shown: by a traceback, a warning, `inspect`."""
    frame: FrameType | None = sys._getframe(3)
    for _ in range(6):
        if frame is None:
            return False
        if frame.f_globals.get("__name__") == "linecache":
            return True
        frame = frame.f_back
    return False


def sights(lead: Lead) -> Sights | None:
    """Have expressions of this process tell what they give, as far as it is asked."""
    if not lead.wanted:
        return None
    trail = _Trail(lead)
    wanted = json.loads(Path(lead.wanted).read_text("utf-8"))
    found = Sights(wanted, lambda sight: trail._write(f"sight {sight}"))
    found.install()
    return found


def follow(lead: Lead) -> None:
    """Follow this process from here on; it cannot be undone."""
    trail = _Trail(lead)
    sys.addaudithook(trail.audit)
    if lead.lines:
        trail.lines()
