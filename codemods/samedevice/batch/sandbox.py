"""Run a command of a repository where it can do least harm, and say which limits really held.

What a system offers is used: bubblewrap (a read-only view of the machine, no network, its own
processes), else `unshare` of util-linux (no network, its own processes), else neither. Limits of
time, memory, files and output hold everywhere but on Windows, where only the time is limited.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..outside.programs import find
from ..prove.process import Captured, Ended, supervise
from ..prove.process import Limits as Ends

_GUARD = Path(__file__).with_name("guard.py")
_POSIX = os.name == "posix"
_LINUX = sys.platform.startswith("linux")
MARK = "SAMEDEVICE_BATCH"
"""A variable in the environment of all processes of a run, by which a later one finds them."""

_SECRETS = [
    ".ssh",
    ".aws",
    ".azure",
    ".config",
    ".docker",
    ".gnupg",
    ".kube",
    ".netrc",
    ".git-credentials",
    ".gitconfig",
    ".npmrc",
    ".pypirc",
]
_KEPT = [
    MARK,
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "LD_LIBRARY_PATH",
    "CUDA_VISIBLE_DEVICES",
    "SYSTEMROOT",
]


@dataclass(frozen=True)
class Limits:
    """What one command may use; None is no limit.

    `seconds` of wall time; `memory` in bytes of all its processes together; `disk` in bytes of its
    folder, of which one file may have as much as all. `network` lets it use the network, `gpu` the
    devices of the machine.
    """

    seconds: float | None = 600.0
    memory: int | None = 4 << 30
    disk: int | None = 2 << 30
    output: int | None = 16 << 20
    network: bool = False
    gpu: bool = False


@dataclass(frozen=True)
class Result:
    """How a command ended: `status` as in `record.Run`, and "disk" for its folder's limit."""

    status: str
    code: int | None
    seconds: float
    stdout: Captured
    stderr: Captured

    @property
    def tail(self) -> str:
        """The end of what it printed, at most 4,000 characters of each stream."""
        parts = (self.stdout.text[-4000:].strip(), self.stderr.text[-4000:].strip())
        return "\n".join(part for part in parts if part)


def run(
    command: Sequence[str],
    *,
    cwd: Path,
    work: Path,
    limits: Limits,
    hide: Sequence[Path] = (),
    env: Mapping[str, str] | None = None,
) -> Result:
    """Run a command that is not trusted in the folder `cwd`, which lies in `work`.

    It may write in `work` only, where the system can enforce that, and gets an empty home folder
    and a temporary folder there. `hide` are folders that it should not see.
    """
    home, temporary = work / "home", work / "tmp"
    for folder in (home, temporary):
        folder.mkdir(exist_ok=True)
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    environment |= {
        "HOME": str(home), "TMPDIR": str(temporary), "TEMP": str(temporary), "TMP": str(temporary),
        "PYTHONDONTWRITEBYTECODE": "1", **(env or {}),
    }  # fmt: skip
    shut = [*_shut(limits, cwd, work, hide), *command]
    return guarded(shut, cwd=cwd, env=environment, limits=limits, folder=work)


def guarded(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    limits: Limits,
    folder: Path | None = None,
    address_space: int | None = None,
) -> Result:
    """Run a command under limits of time, memory, disk and output, but in no sandbox."""
    with tempfile.TemporaryDirectory(prefix="samedevice-guard-") as place:
        verdict = Path(place, "verdict")
        line = list(command)
        if _POSIX:
            asked = {
                "memory": limits.memory,
                "file_size": limits.disk,
                "folder_size": limits.disk if folder else None,
                "folder": str(folder or ""),
                "address_space": address_space,
                "verdict": str(verdict),
            }
            python = [sys.executable, "-I", "-S", str(_GUARD)]
            line = [*python, json.dumps(asked), *command]
        try:
            ended = supervise(
                line, limits=Ends(limits.seconds, None, limits.output), cwd=cwd, env=env
            )
        except OSError as error:
            said = Captured(f"{command[0]}: {error.strerror}", 0, "")
            return Result("refused", None, 0.0, Captured("", 0, ""), said)
        said_to_stop = verdict.read_text() if verdict.exists() else ""
    status = said_to_stop or _status(ended)
    return Result(status, ended.code, ended.seconds, ended.stdout, ended.stderr)


def _status(ended: Ended) -> str:
    if ended.cause in ("time", "output"):
        return ended.cause
    return "passed" if ended.code == 0 else "refused" if ended.code in (126, 127) else "failed"


def held(limits: Limits) -> tuple[str, ...]:
    """Return the limits that hold for `run` on this machine, in words for the record."""
    words = []
    if limits.seconds is not None:
        words.append(f"{limits.seconds:g} s")
    if _POSIX and limits.disk is not None:
        words.append(f"files of at most {limits.disk >> 20} MiB")
    if _LINUX and limits.memory is not None:
        words.append(f"{limits.memory >> 20} MiB of memory")
    if _LINUX and limits.disk is not None:
        words.append(f"{limits.disk >> 20} MiB of disk")
    kind = sandbox()
    if kind and not limits.network:
        words.append("no network")
    words.append({
        "bwrap": "bubblewrap: nothing writable but its folder, own processes",
        "unshare": "unshare: own processes",
        "": "no sandbox on this machine",
    }[kind])  # fmt: skip
    return tuple(words)


@cache
def sandbox() -> str:
    """Return what shuts a command in on this machine: "bwrap", "unshare" or "" for nothing."""
    if not _LINUX:
        return ""
    for kind in ("bwrap", "unshare"):
        program = find(kind)
        options = _BWRAP if kind == "bwrap" else _UNSHARE
        if program and _works([program, *options, *_NO_NETWORK[kind], "true"]):
            return kind
    return ""


_BWRAP = [
    "--ro-bind",
    "/",
    "/",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
]
_UNSHARE = [
    "--user",
    "--map-root-user",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
]
_NO_NETWORK = {"bwrap": ["--unshare-net"], "unshare": ["--net"]}


def _works(command: Sequence[str]) -> bool:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _shut(limits: Limits, cwd: Path, work: Path, hide: Sequence[Path]) -> list[str]:
    """Return the words before a command that shut it in."""
    kind = sandbox()
    if not kind:
        return []
    alone = [] if limits.network else _NO_NETWORK[kind]
    if kind == "unshare":
        return [find(kind), *_UNSHARE, *alone, "--"]
    words = [find(kind), *_BWRAP, *alone]
    if limits.gpu:
        words += ["--dev-bind", "/dev", "/dev"]
    else:
        words += ["--size", str(limits.memory or 4 << 30), "--tmpfs", "/dev/shm"]
    homes = {Path.home(), Path(os.path.expanduser("~"))}
    for path in (*hide, *(home / name for home in homes for name in _SECRETS)):
        if path.is_dir():
            words += ["--tmpfs", str(path)]
        elif path.exists():
            words += ["--ro-bind", os.devnull, str(path)]
    return [*words, "--bind", str(work), str(work), "--chdir", str(cwd), "--"]


def end_marked(mark: str) -> None:
    """End what a killed run left running, which is known by its `MARK`; Linux only."""
    wanted = os.fsencode(f"{MARK}={mark}")
    for entry in os.listdir("/proc") if _LINUX else ():
        if entry.isdigit() and int(entry) != os.getpid():
            with contextlib.suppress(OSError):
                if wanted in Path("/proc", entry, "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry), signal.SIGKILL)
