"""Run a program on a virtual or real accelerator, or the CPU, and say how it went."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

from samedevice.prove.clash import Clash, Frame, Party, Step
from samedevice.prove.frames import is_users, source_line
from samedevice.prove.job import Job, On
from samedevice.prove.lead import Lead
from samedevice.prove.process import Captured, Ended, Limits, supervise
from samedevice.prove.record import Record

_CHILD = Path(__file__).with_name("child.py")

Status = Literal[
    "passed",  # it ran to its end
    "exited",  # sys.exit with another code than 0
    "clash",  # places met, or a device was missing
    "raised",  # another uncaught exception
    "time",  # limits
    "memory",
    "output",
    "crashed",  # a signal, or an end that Python does not see (os._exit)
    "interrupted",  # Ctrl-C
    "refused",  # it could not be started
]
# What `samedevice run` exits with where the program has no exit code of its own; the limits' are
# those of timeout(1) and of a shell that reports a signal.
_EXIT_CODES: dict[Status, int] = {
    "passed": 0,
    "clash": 1,
    "raised": 1,
    "refused": 2,
    "time": 124,
    "output": 125,
    "interrupted": 130,
    "memory": 137,
}


class ProgramError(ValueError):
    """A program that cannot be run as it was named; the text is one sentence for the user."""


@dataclass(frozen=True)
class Program:
    """What to run: a script, a folder with `__main__.py`, a notebook, or a module (`-m`)."""

    target: str
    arguments: tuple[str, ...] = ()
    is_module: bool = False

    @classmethod
    def parse(cls, command: str | Sequence[str]) -> Program:
        """Read "main.py --epochs 1", "-m package.train", "python main.py" or "pytest -q".

        Raises ProgramError when there is no program in it.
        """
        try:
            words = shlex.split(command) if isinstance(command, str) else list(command)
        except ValueError as error:
            raise ProgramError(f"{command}: {error}") from None
        if words and Path(words[0]).stem in {"python", "python3"}:
            words = words[1:]
            while words and words[0] in {"-u", "-B"}:
                words = words[1:]
        if words and words[0] == "pytest":
            words = ["-m", *words]
        if words[:1] == ["-m"]:
            if len(words) < 2:
                raise ProgramError("-m needs the name of a module")
            return cls(words[1], tuple(words[2:]), is_module=True)
        if not words:
            raise ProgramError("no program to run was named")
        if words[0].startswith("-"):
            raise ProgramError(f"{words[0]}: expected a path or -m MODULE")
        return cls(words[0], tuple(words[1:]))

    def __str__(self) -> str:
        return shlex.join([*(["-m"] if self.is_module else []), self.target, *self.arguments])

    def kind(self, folder: Path) -> Literal["script", "module", "notebook"]:
        """Return what there is to run from `folder`; raises ProgramError when there is nothing."""
        if self.is_module:
            return "module"
        path = folder / self.target
        if path.is_dir():
            if not (path / "__main__.py").is_file():
                raise ProgramError(f"{self.target}: a folder without __main__.py cannot be run")
        elif not path.exists():
            raise ProgramError(f"{self.target}: no such file")
        return "notebook" if path.suffix == ".ipynb" else "script"


@dataclass(frozen=True)
class RunResult:
    """How a run went.

    `on` is what it ran on ("cpu", "virtual", "cuda") and `device` the accelerator's name in the
    program ("cuda", or "cpu"). `message` is one sentence for a user, empty when it passed.
    `exit_code` is the program's own, or the one that stands for `status` (docs/run.md). `frames`
    are the user's lines where it raised, or where it was when a limit ended it, the innermost last.
    `uncaught` are exceptions that ended a thread, or a callback of Python's, and not the program.
    `again` says what came of a second, recorded run (`prove.again`), where one was wanted.
    """

    program: str
    on: str
    device: str
    status: Status
    exit_code: int
    message: str
    seconds: float
    stdout: Captured
    stderr: Captured
    exception: str = ""
    clash: Clash | None = None
    frames: tuple[Frame, ...] = ()
    record: Record | None = None
    torch: str = ""
    left_behind: int = 0
    uncaught: tuple[str, ...] = ()
    again: str = ""

    @property
    def passed(self) -> bool:
        """Whether it ran to its end."""
        return self.status == "passed"

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON's types."""
        return asdict(self)


def as_if_in(result: RunResult, copy: Path, folder: Path) -> RunResult:
    """Return a result that speaks of the files of `folder` where it ran in a copy of it."""
    old, new = str(copy.resolve()), str(folder.resolve())

    def renamed(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace(old, new)
        if isinstance(value, (list, tuple)):
            return type(value)(renamed(item) for item in value)
        if is_dataclass(value) and not isinstance(value, type):
            parts = {one.name: renamed(getattr(value, one.name)) for one in fields(value)}
            return replace(value, **parts)
        return value

    return cast(RunResult, renamed(result))


@dataclass(frozen=True)
class Settings:
    """How programs run.

    `on`: "virtual", "cpu", "cuda", or "auto" (CUDA if there is, else virtual). `device_type` and
    `devices` shape the virtual accelerator. `python` is the interpreter. `seed` seeds Python, NumPy
    and torch, and fixes the hash seed; without one nothing is seeded. `record` watches operations,
    transfers, optimizer steps and losses; without it, `steps` notes where optimizers step and what
    losses were first and last, which costs next to nothing, and with `sums` what parameters sum up
    to after each step, which costs a little. `lead` is where imports are led.
    """

    on: On = "virtual"
    device_type: str = "cuda"
    devices: int = 1
    limits: Limits = field(default_factory=Limits)
    seed: int | None = None
    record: bool = True
    steps: bool = False
    sums: bool = False
    python: str = sys.executable
    env: Mapping[str, str] = field(default_factory=dict)
    lead: Lead | None = None


def run_program(
    program: Program | str | Sequence[str],
    *,
    cwd: Path | None = None,
    settings: Settings | None = None,
    interactive: bool = False,
    stdin: int | None = None,
) -> RunResult:
    """Run a program in a process of its own and return how it went, whatever it does.

    `interactive` gives it this process's stdin and repeats its output as it comes; `stdin` is
    another file that it reads.
    Raises ProgramError when the program is not named as one, or does not exist.
    """
    settings = settings or Settings()
    if not isinstance(program, Program):
        program = Program.parse(program)
    kind = program.kind(cwd or Path.cwd())
    with tempfile.TemporaryDirectory(prefix="samedevice-") as folder:
        job = Job(
            kind,
            program.target,
            report=os.path.join(folder, "report.json"),
            stack=os.path.join(folder, "stack.txt"),
            arguments=list(program.arguments),
            on=settings.on,
            device_type=settings.device_type,
            devices=settings.devices,
            seed=settings.seed,
            memory=settings.limits.memory,
            record=settings.record,
            steps=settings.steps,
            sums=settings.sums,
            lead=asdict(settings.lead) if settings.lead else None,
        )
        job.write(Path(folder, "job.json"))
        env = {**os.environ, **settings.env}
        if cwd is not None and env.get("PYTHONPATH"):
            env["PYTHONPATH"] = _from_elsewhere(env["PYTHONPATH"])
        if settings.on == "cpu":  # a machine with a GPU must not lend it
            env |= {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
        if settings.seed is not None:
            env["PYTHONHASHSEED"] = str(settings.seed % 2**32)
        try:
            ended = supervise(
                [_interpreter(settings.python), str(_CHILD), str(Path(folder, "job.json"))],
                limits=settings.limits,
                cwd=cwd,
                env=env,
                interactive=interactive,
                stdin=stdin,
                before_end=partial(_last_word, Path(job.report)),
            )
        except OSError as error:
            raise ProgramError(f"{settings.python}: cannot be run: {error.strerror}") from None
        report = _read_report(Path(job.report))
        stack = _read_stack(Path(job.stack))
    return _result(str(program), settings, ended, report, stack)


def _from_elsewhere(paths: str) -> str:
    """Return a list of folders so that those beside this one are found from its copy, too."""
    entries = paths.split(os.pathsep)
    beside = [os.path.normpath(entry).split(os.sep)[0] == os.pardir for entry in entries]
    return os.pathsep.join(
        os.path.abspath(entry) if out else entry for entry, out in zip(entries, beside, strict=True)
    )


def _interpreter(python: str) -> str:
    """Return an interpreter so that it is found from another folder, too."""
    return os.path.abspath(python) if os.path.dirname(python) else python


def _last_word(report: Path, pid: int, cause: str, has_ended: Callable[[], bool]) -> None:
    """Let the child say where it is, and on Ctrl-C end it as Ctrl-C does."""
    if os.name != "posix":
        return
    before = _written(report)
    try:
        os.kill(pid, signal.SIGUSR1)
        _wait_for(lambda: has_ended() or _written(report) > before, 2.0)
        if cause == "interrupt":
            os.killpg(pid, signal.SIGINT)
            _wait_for(has_ended, 10.0)
    except (ProcessLookupError, KeyboardInterrupt):  # gone, or Ctrl-C again: no more waiting
        pass


def _wait_for(condition: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)


def _written(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _read_report(path: Path) -> dict[str, Any]:
    try:
        report: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):  # it ended before it could say anything
        return {}
    return report


def _read_stack(path: Path) -> tuple[Frame, ...]:
    """Return the user's frames that faulthandler wrote, the innermost last."""
    try:
        text = path.read_text("utf-8", "replace")
    except OSError:
        return ()
    # Of several dumps, the last; faulthandler puts the innermost frame first.
    last = re.split(r"^(?:Current thread|Thread|Stack) .*$", text, flags=re.MULTILINE)[-1]
    found = re.findall(r'^  File "(.+)", line (\d+) in (.+)$', last, re.MULTILINE)
    return tuple(
        Frame(file, int(line), function, source_line(file, int(line)))
        for file, line, function in reversed(found)
        if is_users(file)
    )


def _result(
    program: str,
    settings: Settings,
    ended: Ended,
    report: Mapping[str, Any],
    stack: tuple[Frame, ...],
) -> RunResult:
    frames = tuple(Frame(**frame) for frame in report.get("frames", ())) or stack
    status, message = _status(settings.limits, ended, report, frames)
    clash = report.get("clash")
    record = report.get("record")
    code = _EXIT_CODES.get(status)
    if code is None:  # exited, crashed: the program's own
        code = ended.code if ended.code >= 0 else 128 - ended.code
    return RunResult(
        program,
        on=report.get("on", settings.on),
        device=report.get("device", "cpu"),
        status=status,
        exit_code=code,
        message=message,
        seconds=ended.seconds,
        stdout=ended.stdout,
        stderr=ended.stderr,
        exception=report.get("exception", ""),
        clash=_clash(clash) if clash else None,
        frames=frames,
        record=Record.from_json(record) if record else None,
        torch=report.get("torch", ""),
        left_behind=ended.left_behind,
        uncaught=tuple(report.get("uncaught", ())),
    )


def _status(
    limits: Limits, ended: Ended, report: Mapping[str, Any], frames: tuple[Frame, ...]
) -> tuple[Status, str]:
    """Return how it ended and the sentence that says so."""
    at = f" at {frames[-1].file}:{frames[-1].line}" if frames else ""
    told: str = report.get("status", "")
    if ended.cause == "time":
        return "time", f"stopped after {ended.seconds:.0f} s, its time limit{at}"
    if ended.cause == "output":
        size = (limits.output or 0) / (1 << 20)
        return "output", f"stopped: it wrote more than {size:.3g} MiB, its output limit"
    if ended.cause == "interrupt" or told == "interrupted":
        return "interrupted", f"interrupted{at}"
    if told == "refused":
        return "refused", report["message"]
    if told == "memory":
        limit = f" (limit: {limits.memory / (1 << 20):.0f} MiB)" if limits.memory else ""
        return "memory", f"out of memory{limit}{at}"
    if ended.code < 0:
        name = signal.Signals(-ended.code).name
        hint = ": the system's memory may be full" if name == "SIGKILL" else ""
        return "crashed", f"ended by {name}{hint}{at}"
    if told == "clash":
        return "clash", f"{report['exception']}: {_first_line(report['message'])}"
    if told == "raised":
        first = _first_line(report["message"])
        if first == "Numpy is not available":  # torch does not bring it
            first += " (pip install numpy)"
        return "raised", f"{report['exception']}: {first}" if first else report["exception"]
    if ended.code != 0 and told in ("passed", "exited"):
        return "exited", f"ended with exit code {ended.code}"
    if told == "started" or not told:
        if ended.code != 0 and not told:
            last = _first_line(ended.stderr.text.strip().rpartition("\n")[2])
            return "crashed", f"could not be started: {last or f'exit code {ended.code}'}"
        return "crashed", f"ended by os._exit, not by Python, exit code {ended.code}"
    return "passed", ""


def _first_line(text: str) -> str:
    lines = text.strip().split("\n")
    return lines[0] if len(lines[0]) < 400 else lines[0][:400] + " ..."


def _clash(data: Mapping[str, Any]) -> Clash:
    operands, sides = (
        tuple(
            Party(**{**party, "steps": tuple(Step(**step) for step in party["steps"])})
            for party in data[name]
        )
        for name in ("operands", "sides")
    )
    frames = tuple(Frame(**frame) for frame in data["frames"])
    return Clash(**{**data, "operands": operands, "sides": sides, "frames": frames})
