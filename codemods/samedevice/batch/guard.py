"""Runs one command under limits: a program of its own, `python -I -S guard.py LIMITS COMMAND...`.

It takes what the operating system enforces for a single process (rlimits) and watches what it does
not: the memory of all processes together, and the size of a folder. When one is exceeded, or when
the process that started the guard is gone, everything that the command started is killed.

LIMITS is JSON: `memory`, `folder_size`, `file_size` and `address_space` in bytes, `cpu` in seconds,
`folder`, and `verdict`, a file in which the guard says what it stopped the command for ("memory",
"disk"). It imports nothing of this package, so that it starts in a few milliseconds.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

_PAUSE = 0.05  # seconds between two looks at the memory
_SHARE = 20  # a look at the folder may take one twentieth of the time


def main(arguments: list[str]) -> int:
    """Run the command; return its exit code, or 128 plus the number of the signal that ended it."""
    limits = json.loads(arguments[0])
    parent = os.getppid()
    end_with_parent(parent)
    command = os.fork()
    if command == 0:
        _become(arguments[1:], limits)
    status = _watch(command, limits, parent)
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def _become(command: list[str], limits: dict[str, Any]) -> None:
    """Be the command, in the process that will run it."""
    code = 127
    try:
        end_with_parent(os.getppid())
        limit(limits)
        os.execvp(command[0], command)
    except FileNotFoundError:
        print(f"{command[0]}: no such program", file=sys.stderr)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        code = 126
    finally:
        os._exit(code)


def limit(limits: dict[str, Any]) -> None:
    """Set the limits that the system enforces on this process and those that it starts."""
    if os.name != "posix":
        return
    import resource

    for name, kind in (
        ("address_space", resource.RLIMIT_AS),
        ("file_size", resource.RLIMIT_FSIZE),
        ("cpu", resource.RLIMIT_CPU),
        ("core", resource.RLIMIT_CORE),
    ):
        wanted = 0 if name == "core" else limits.get(name)
        if wanted is not None:
            _, most = resource.getrlimit(kind)
            if most != resource.RLIM_INFINITY:
                wanted = min(wanted, most)
            with contextlib.suppress(ValueError, OSError):  # macOS has no limit of address space
                resource.setrlimit(kind, (int(wanted), int(wanted)))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")  # when the machine runs out of memory, this goes first


def end_with_parent(parent: int) -> None:
    """Ask the kernel to kill this process when its parent ends; Linux only."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def _watch(command: int, limits: dict[str, Any], parent: int) -> int:
    """Wait for the command's end and return its status; end it when it takes too much."""
    memory, room = limits.get("memory"), limits.get("folder_size")
    pause, look_at = 0.002, 0.0
    while True:
        ended, status = os.waitpid(command, os.WNOHANG)
        if ended:
            return status
        verdict = ""
        if memory is not None and sum(map(_memory, _family(command))) > memory:
            verdict = "memory"
        elif room is not None and time.monotonic() >= look_at:
            started = time.monotonic()
            if _size(limits["folder"]) > room:
                verdict = "disk"
            look_at = time.monotonic() + _SHARE * (time.monotonic() - started)
        if os.getppid() != parent:
            verdict = "orphan"
        if verdict:
            with contextlib.suppress(OSError), open(limits["verdict"], "w") as file:
                file.write(verdict)
            for pid in [*_family(command)][::-1]:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            return os.waitpid(command, 0)[1]
        time.sleep(pause)
        pause = min(pause * 1.5, _PAUSE)


def _family(pid: int) -> Iterator[int]:
    """Yield a process and all that it started; only itself where there is no /proc."""
    yield pid
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with (
                contextlib.suppress(OSError),
                open(f"/proc/{pid}/task/{thread}/children") as file,
            ):
                for child in file.read().split():
                    yield from _family(int(child))


def _memory(pid: int) -> int:
    """Return the bytes that a process has in memory and shares with no file."""
    try:
        with open(f"/proc/{pid}/statm") as file:
            _, resident, shared = map(int, file.read().split()[:3])
    except (OSError, ValueError):
        return 0
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


def _size(folder: str) -> int:
    """Return the bytes that the files of a folder take; links are not followed."""
    total = 0
    queue = [folder]
    while queue:
        try:
            with os.scandir(queue.pop()) as entries:
                for entry in entries:
                    with contextlib.suppress(OSError):
                        if entry.is_dir(follow_symlinks=False):
                            queue.append(entry.path)
                        else:
                            total += entry.stat(follow_symlinks=False).st_size
        except OSError:
            continue
    return total


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
