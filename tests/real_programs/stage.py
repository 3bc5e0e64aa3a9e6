"""Running one program in a copy of its files, and what came of it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from .catalogue import Program

SHIMS = Path(__file__).with_name("shims")
Caller = Callable[[list[str], Path, dict[str, str], float], tuple[int | None, str, str]]
COMMAND = "from samedevice.cli import main; main()"
PACKAGE = Path(__file__).parents[2] / "codemods"


@dataclass
class Run:
    """The outcome of one run: text, and what the shims traced."""

    status: int | None  # None: stopped at the time limit
    stdout: str = ""
    stderr: str = ""
    seconds: float = 0.0
    losses: list[str] = field(default_factory=list)  # one per backward pass, bit for bit
    losses_on: dict[str, int] = field(default_factory=dict)  # type of device -> backward passes
    stepped: dict[str, int] = field(default_factory=dict)  # type of device -> parameters stepped
    drew: bool = False  # whether random numbers were drawn on an XLA device or a GPU
    files: list[str] = field(default_factory=list)  # of the program that were executed

    @property
    def finished(self) -> bool:
        """Whether the program ran to its end."""
        return self.status == 0

    @property
    def reason(self) -> str:
        """Why it did not, in one line."""
        if self.finished:
            return ""
        if self.status is None:
            return "time limit"
        lines = [line for line in self.stderr.splitlines() if line.strip()]
        return lines[-1].strip()[:300] if lines else f"exit status {self.status}"


def copy_program(program: Program, corpus: Path, to: Path) -> None:
    """Copy the program's files below ``to``, as they lie in the repository.

    Raises ``FileNotFoundError`` where the checkout lacks one.
    """
    checkout = program.checkout(corpus)
    for name in program.copied:
        source, target = checkout / name, to / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copy2(source, target)


def environment(program: Program, trace: Path, home: Path) -> dict[str, str]:
    """The environment of a run: quiet, single-threaded, offline and seeded."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {
        **kept,
        "HOME": str(home),
        "MPLBACKEND": "Agg",
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
        "PYTHONWARNINGS": "ignore",
        "REAL_PROGRAMS_MAX_BATCHES": "4",
        "REAL_PROGRAMS_ROOT": str(trace.with_name("work")),
        "REAL_PROGRAMS_TRACE": str(trace),
        "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1",  # programs that load what they saved, whole
        **program.env,
        "PYTHONPATH": os.pathsep.join([str(SHIMS), str(PACKAGE), *program.import_from]),
    }


def run(
    program: Program,
    folder: Path,
    limit: float,
    *,
    on_virtual: bool = False,
    python: str = sys.executable,
    extra: Mapping[str, str] | None = None,
    call: Caller | None = None,
) -> Run:
    """Run the program of the copy ``folder`` once, in a copy of that copy.

    ``on_virtual``: on the virtual accelerator instead of the CPU. ``limit`` is in seconds.
    ``extra`` are variables for its environment. ``call`` starts the program.
    """
    with TemporaryDirectory() as scratch:
        work, home, trace = Path(scratch) / "work", Path(scratch) / "home", Path(scratch) / "trace"
        shutil.copytree(folder, work)
        home.mkdir()
        script = os.path.relpath(work / program.path, work / program.folder)
        launcher: tuple[str, ...] = ("-m", "real_programs_notebook") if program.notebook else ()
        if program.module:
            launcher, script = ("-m",), program.module
        env = {**environment(program, trace, home), **(extra or {})}
        arguments = list(program.args)
        if on_virtual:
            arguments += program.device_args
            env["SAMEDEVICE_VIRTUAL"] = "cuda:" + env.get("REAL_PROGRAMS_DEVICES", "1")
        begun = time.monotonic()
        status, stdout, stderr = (call or _call)(
            [python, *launcher, script, *arguments],
            work / program.folder,
            env,
            limit,
        )
        seconds = time.monotonic() - begun
        result = Run(status, stdout.replace(scratch, ""), stderr.replace(scratch, ""), seconds)
        if trace.exists():
            _read_trace(trace, result)
        return result


def fix(folder: Path, options: tuple[str, ...], limit: float) -> Run:
    """``samedevice fix --yes`` on the copy ``folder``."""
    begun = time.monotonic()
    status, stdout, stderr = _call(
        [sys.executable, "-c", COMMAND, "fix", "--yes", *options, "."],
        folder,
        {**os.environ, "PYTHONPATH": str(PACKAGE), "NO_COLOR": "1", "COLUMNS": "200"},
        limit,
    )
    return Run(status, stdout, stderr, time.monotonic() - begun)


def _call(
    command: list[str], folder: Path, env: dict[str, str], limit: float
) -> tuple[int | None, str, str]:
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    try:
        stdout, stderr = process.communicate(timeout=limit)
        return process.returncode, stdout, stderr
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = process.communicate()
        return None, stdout, stderr


def _read_trace(trace: Path, result: Run) -> None:
    for line in trace.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        result.drew = result.drew or entry.get("drew", False)
        result.files += entry.get("files", [])
        if "backward" in entry:
            result.losses.append(entry["backward"])
            result.losses_on[entry["on"]] = result.losses_on.get(entry["on"], 0) + 1
        for place, count in entry.get("stepped", {}).items():
            result.stepped[place] = result.stepped.get(place, 0) + count
