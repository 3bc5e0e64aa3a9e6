"""Run one command under limits, and leave nothing of it behind.

The command gets a session of its own, so that all of its processes end together. On Linux, those
that left the session (daemons) are found by a mark in their environment. Windows has neither: there
only the command's own process is ended.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, Literal

MARK = "SAMEDEVICE_RUN"
_KEPT = 1 << 20  # bytes of a stream that are kept, half from its head and half from its tail
_GRACE = 3.0  # seconds that a command has to end itself when it is told to
_POSIX = os.name == "posix"


@dataclass(frozen=True)
class Limits:
    """What one run may use: None is no limit.

    `seconds` of wall time; `memory` in bytes for each process, where the system can limit it;
    `output` in bytes for each of stdout and stderr.
    """

    seconds: float | None = None
    memory: int | None = None
    output: int | None = 64 << 20


@dataclass(frozen=True)
class Captured:
    """One output stream: its text (long ones without their middle), and all of it as a digest."""

    text: str
    size: int
    digest: str

    @property
    def complete(self) -> bool:
        """Whether `text` is everything."""
        return self.size <= _KEPT


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    `code` is its exit code, or minus the number of the signal that ended it. `cause` says whether
    it ended by itself (`exit`) or was ended: a limit (`time`, `output`) or Ctrl-C (`interrupt`).
    `left_behind` counts its processes that were still there after it ended by itself, and were
    ended too.
    """

    code: int
    cause: Literal["exit", "time", "output", "interrupt"]
    stdout: Captured
    stderr: Captured
    seconds: float
    left_behind: int


class _Pump(threading.Thread):
    """Reads a stream to its end, so that the command never blocks on a full pipe."""

    def __init__(self, stream: IO[bytes], echo: BinaryIO | None, limit: int | None) -> None:
        super().__init__(daemon=True)
        self._stream, self._echo, self._limit = stream, echo, limit
        self._head, self._tail = bytearray(), bytearray()
        self._hash = hashlib.sha256()
        self.size = 0
        self.flooded = False

    def run(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while block := os.read(self._stream.fileno(), 1 << 16):
                self._take(block)

    def _take(self, block: bytes) -> None:
        self.size += len(block)
        self._hash.update(block)
        room = _KEPT // 2 - len(self._head)
        self._head += block[:room] if room > 0 else b""
        self._tail += block[room:] if room > 0 else block
        if len(self._tail) > _KEPT:
            del self._tail[: -_KEPT // 2]
        if self._limit is not None and self.size > self._limit:
            self.flooded = True
        elif self._echo is not None:
            try:
                self._echo.write(block)
                self._echo.flush()
            except (
                OSError,
                ValueError,
            ):  # `samedevice run ... | head`: the reader has closed the pipe
                self._echo = None

    def captured(self) -> Captured:
        head, tail = bytes(self._head), bytes(self._tail)
        left_out = self.size - len(head) - len(tail)
        if self.size > _KEPT and len(tail) > _KEPT // 2:
            left_out += len(tail) - _KEPT // 2
            tail = tail[-_KEPT // 2 :]
        text = head.decode("utf-8", "replace")
        if left_out:
            text += f"\n[... {left_out} bytes left out ...]\n"
        text += tail.decode("utf-8", "replace")
        return Captured(text, self.size, self._hash.hexdigest())


def supervise(
    command: Sequence[str],
    *,
    limits: Limits,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    interactive: bool = False,
    stdin: int | None = None,
    before_end: Callable[[int, str, Callable[[], bool]], None] | None = None,
) -> Ended:
    """Run `command` until it ends or a limit ends it, and then end all that it started.

    `interactive` gives it this process's stdin and repeats its output here as it comes; else it
    reads the file `stdin`, or nothing. `before_end(pid, cause, has_ended)` is called when the time
    is up or Ctrl-C was pressed, before the command is ended: it may ask the command for a last
    word. `limits.memory` is the command's to set on itself (`prove.child` does).

    Raises OSError when the command cannot be started. An exception here ends the command as well.
    """
    mark = secrets.token_hex(16)
    if interactive:  # what was printed here before comes before
        sys.stdout.flush()
        sys.stderr.flush()
    started = time.monotonic()
    process = subprocess.Popen(
        list(command),
        cwd=cwd,
        env={**(os.environ if env is None else env), MARK: mark},
        stdin=None if interactive else subprocess.DEVNULL if stdin is None else stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=_POSIX,
    )
    assert process.stdout is not None and process.stderr is not None
    out, err = (
        _Pump(stream, getattr(echo, "buffer", None) if interactive else None, limits.output)
        for stream, echo in ((process.stdout, sys.stdout), (process.stderr, sys.stderr))
    )
    left_behind = 0
    try:
        with _terminable():
            out.start()
            err.start()
            cause = _wait(process, (out, err), limits.seconds, started)
            if cause == "exit":
                left_behind = _count_left(process, mark)
            elif before_end is not None and cause != "output":
                before_end(process.pid, cause, lambda: _exited(process))
    finally:
        _end(process, mark)
    seconds = time.monotonic() - started
    for pump, stream in ((out, process.stdout), (err, process.stderr)):
        pump.join(_GRACE)
        if not pump.is_alive():
            stream.close()
    code = process.wait()
    return Ended(code, cause, out.captured(), err.captured(), seconds, left_behind)


def _wait(
    process: subprocess.Popen[bytes],
    pumps: tuple[_Pump, _Pump],
    seconds: float | None,
    started: float,
) -> Literal["exit", "time", "output", "interrupt"]:
    pause = 0.005
    try:
        while not _exited(process):
            if any(pump.flooded for pump in pumps):
                return "output"
            if seconds is not None and time.monotonic() - started > seconds:
                return "time"
            time.sleep(pause)
            pause = min(pause * 1.5, 0.05)
    except KeyboardInterrupt:
        return "interrupt"
    return "exit"


def _exited(process: subprocess.Popen[bytes]) -> bool:
    """Tell whether it ended, without reaping it: until then its group's number stays its own."""
    if not hasattr(os, "waitid"):  # Windows; macOS before Python 3.13
        return process.poll() is not None
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, process.pid, flags) is not None


def _count_left(process: subprocess.Popen[bytes], mark: str) -> int:
    """Count the other processes of a command that has ended, once they had a moment to follow."""
    deadline = time.monotonic() + 0.5
    while (left := len(set(_marked(mark)) - {process.pid})) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def _end(process: subprocess.Popen[bytes], mark: str) -> None:
    if _POSIX and process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    elif not _POSIX:
        process.kill()
    for _ in range(50):  # a process may start another between the listing and the kill
        left = set(_marked(mark)) - {process.pid}
        if not left:
            break
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    process.wait()


def _marked(mark: str) -> Iterator[int]:
    """Yield the processes whose environment carries the mark (nothing where there is no /proc)."""
    if not sys.platform.startswith("linux"):
        return
    wanted = f"{MARK}={mark}".encode()
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                # A zombie's environment is empty, so it is not counted.
                if wanted in Path("/proc", entry, "environ").read_bytes().split(b"\0"):
                    yield int(entry)


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Turn SIGTERM into SystemExit for a while, so that the command ends with its supervisor."""
    if not _POSIX or threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(signum: int, frame: object) -> None:
        raise SystemExit(128 + signum)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
