"""The process that runs a program: `python child.py JOB.json`.

It prepares what the job asks for (limits, device, seed), runs the program as `python` would, and
leaves a report. What the program prints, and its traceback, look as ever; everything of ours goes
to the report.
"""

import os
import sys

# Python put this folder on the path (unless PYTHONSAFEPATH forbids). The package's own parent
# stands there while ours is imported, and nothing when the program runs.
_SAFE_PATH = getattr(sys.flags, "safe_path", False)
if not _SAFE_PATH:
    del sys.path[0]
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(_PACKAGE))

import ast  # noqa: E402
import atexit  # noqa: E402
import contextlib  # noqa: E402
import faulthandler  # noqa: E402
import importlib.util  # noqa: E402
import json  # noqa: E402
import linecache  # noqa: E402
import signal  # noqa: E402
import threading  # noqa: E402
import traceback  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from dataclasses import asdict  # noqa: E402
from pathlib import Path  # noqa: E402
from types import FrameType, ModuleType  # noqa: E402
from typing import Any  # noqa: E402

from samedevice.prove import device, failure, lead, notebook, trail  # noqa: E402
from samedevice.prove.clash import Frame  # noqa: E402
from samedevice.prove.frames import is_users  # noqa: E402
from samedevice.prove.job import Job  # noqa: E402
from samedevice.prove.lives import Lives  # noqa: E402
from samedevice.prove.sights import Sights  # noqa: E402
from samedevice.reading.notebook import Notebook  # noqa: E402

del sys.path[0]

_OUT_OF_MEMORY = ("can't allocate memory", "Cannot allocate memory", "not enough memory")


class Refused(Exception):
    """The program cannot be started; the text says why."""


class _Report:
    """What the parent reads. It is written as often as there is news, whole or not at all."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._owner = os.getpid()  # a forked child of the program reports nothing
        self.data: dict[str, Any] = {"status": "started"}
        self.record: Callable[[], dict[str, Any]] | None = None

    def write(self) -> None:
        if os.getpid() != self._owner:
            return
        if self.record is not None:
            self.data["record"] = self.record()
        if "torch" in sys.modules:
            self.data["torch"] = str(getattr(sys.modules["torch"], "__version__", ""))
        new = f"{self._path}.new"
        Path(new).write_text(json.dumps(self.data), "utf-8")
        os.replace(new, self._path)


def main() -> None:
    """Run the job named on the command line and exit as the program does."""
    job = Job.read(Path(sys.argv[1]))
    report = _Report(job.report)
    atexit.register(report.write)  # the first one in is the last one out: after the program's own
    _limit(job)
    _listen(job, report)
    _overhear(report)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # nothing lost at a kill
    follow = lead.Lead.load(job.lead) if job.lead else None
    try:
        if follow is not None:
            lead.install(follow)
            device.hook_children()
        code = _prepare(job, trail.sights(follow) if follow is not None else None)
        with _device(job, report) as lives:
            _seed(job.seed)
            report.write()  # the program may end in a way that leaves no time for it
            if follow is not None:
                trail.follow(follow)
            status = _run(code, report, lives)
            report.write()
    except Refused as refusal:
        report.data.update(status="refused", message=str(refusal))
        status = 2
    sys.exit(status)


def _limit(job: Job) -> None:
    """Set the memory limit, and end with the parent where the system offers it."""
    if sys.platform.startswith("linux"):
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if job.memory is not None and os.name == "posix":
        import resource

        # Data, not address space: CUDA and allocators reserve far more addresses than they use.
        kind = resource.RLIMIT_DATA if sys.platform.startswith("linux") else resource.RLIMIT_AS
        _, most = resource.getrlimit(kind)
        limit = job.memory if most == resource.RLIM_INFINITY else min(job.memory, most)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (limit, limit))


def _listen(job: Job, report: _Report) -> None:
    """On SIGUSR1, say where the program is and what it did so far; on a crash, say where."""
    crash = open(job.stack, "w", encoding="utf-8")  # noqa: SIM115  # open as long as the process
    faulthandler.enable(crash)
    if os.name != "posix":
        return

    def last_word(signum: int, frame: FrameType | None) -> None:
        report.data["frames"] = [asdict(one) for one in _stack(frame)]
        report.write()

    signal.signal(signal.SIGUSR1, last_word)
    # Python's handler waits for the interpreter; this one works in the middle of C code, too.
    faulthandler.register(signal.SIGUSR1, crash, all_threads=False, chain=True)


def _overhear(report: _Report) -> None:
    """Note the exceptions that end a thread or a callback, and leave the program running."""
    of_threads, of_callbacks = threading.excepthook, sys.unraisablehook
    told: list[str] = []
    report.data["uncaught"] = told

    def note(error: BaseException | None) -> None:
        if error is not None and len(told) < 20:
            told.append(f"{type(error).__qualname__}: {failure.text_of(error)[:400]}")

    def thread(args: Any) -> None:
        if args.exc_type is not SystemExit:
            note(args.exc_value)
        of_threads(args)

    def callback(unraisable: Any) -> None:
        if unraisable.exc_value and failure.is_about_places(unraisable.exc_value):
            note(unraisable.exc_value)
        of_callbacks(unraisable)

    threading.excepthook, sys.unraisablehook = thread, callback


def _stack(frame: FrameType | None) -> Iterator[Frame]:
    """Yield the user's frames of a running stack, the innermost last."""
    entries = traceback.extract_stack(frame)
    for entry in entries:
        if is_users(entry.filename) and entry.lineno is not None:
            yield Frame(entry.filename, entry.lineno, entry.name, entry.line or "")


# The program


class _Code:
    """Code objects to run in order, and the `__main__` that they run in."""

    def __init__(self, file: str, spec: Any = None, package: str | None = None) -> None:
        self.main = ModuleType("__main__")
        self.main.__dict__.update(
            __file__=file,
            __spec__=spec,
            __package__=package,
            __loader__=getattr(spec, "loader", None),
            __cached__=None,
            __builtins__=__builtins__,
        )
        self.parts: list[Any] = []
        self.file = file
        self.notebook: Notebook | None = None


def _prepare(job: Job, sights: Sights | None) -> _Code:
    """Read and compile the program; set `sys.path` and `sys.argv` as Python does for it."""
    if job.kind == "module":
        _first_on_path(os.getcwd())
        return _module(job.target, job.arguments)
    path = os.path.abspath(job.target)
    if os.path.isdir(path):
        sys.path.insert(0, path)  # even in safe mode: it is the program
        path = os.path.join(path, "__main__.py")
    else:
        _first_on_path(os.path.dirname(path))
    sys.argv = [job.target, *job.arguments]
    code = _Code(path)
    try:
        content = Path(path).read_bytes()
        if job.kind == "notebook":
            cells = code.notebook = Notebook(content.decode("utf-8-sig"))
            text = cells.text
            linecache.cache[path] = (len(text), None, text.splitlines(True), path)
            code.parts = [
                compile(tree if sights is None else sights.watched(tree, path), path, mode)
                for tree, mode in notebook.trees(cells, path)
            ]
            code.main.__dict__["display"] = print
            notebook.warn_by_cell(path, cells)
        else:
            tree: Any = content if sights is None else sights.watched(ast.parse(content), path)
            code.parts = [compile(tree, path, "exec", dont_inherit=True)]
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from None
    except SyntaxError as error:
        at = notebook.cell_of(code.notebook, error.lineno or 0) if code.notebook else None
        line = f"cell {at[0]}:{at[1]}" if at else error.lineno
        place = f"{path}:{line}" if line else path
        raise Refused(f"{place}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Refused(f"{path}: {error}") from None
    return code


def _first_on_path(folder: str) -> None:
    if not _SAFE_PATH:
        sys.path.insert(0, folder)


def _module(name: str, arguments: list[str]) -> _Code:
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
        source = spec.loader.get_code(spec.name) if spec and spec.loader else None  # type: ignore
    except (ImportError, ValueError) as error:
        raise Refused(f"module {name}: {error}") from None
    except SyntaxError as error:
        raise Refused(f"{error.filename}:{error.lineno}: {error.msg}") from None
    if spec is None or source is None:
        raise Refused(f"module {name}: no such module, or one that cannot be run")
    file = spec.origin or name
    sys.argv = [file, *arguments]
    code = _Code(file, spec, spec.parent)
    code.parts = [source]
    return code


def _run(code: _Code, report: _Report, lives: Lives) -> Any:
    """Run it; return what `sys.exit` is to be called with."""
    sys.modules["__main__"] = code.main
    try:
        for part in code.parts:
            exec(part, code.main.__dict__)
    except SystemExit as error:
        report.data["status"] = "exited"
        return error.code
    except BaseException as error:
        if os.getpid() != report._owner:
            raise
        _explain(error, code, report, lives)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    report.data["status"] = "passed"
    return 0


# A failure


def _explain(error: BaseException, code: _Code, report: _Report, lives: Lives) -> None:
    """Print the traceback as Python would, and put it into the report."""
    trace = failure.without_ours(error)
    if sys.excepthook is sys.__excepthook__ and code.notebook is not None:
        told = traceback.TracebackException(type(error), error, trace)
        notebook.told_by_cell(told, code.file, code.notebook)
        sys.stderr.write("".join(told.format()))
    else:
        sys.excepthook(type(error), error, trace)
    name, text = type(error).__qualname__, failure.text_of(error)
    if type(error).__module__ not in ("builtins", "__main__"):
        name = f"{type(error).__module__}.{name}"
    report.data.update(
        status="interrupted" if isinstance(error, KeyboardInterrupt) else "raised",
        exception=name,
        message=text,
        frames=[asdict(frame) for frame in failure.frames_of(error)],
    )
    if isinstance(error, MemoryError) or any(word in text for word in _OUT_OF_MEMORY):
        report.data["status"] = "memory"
    elif clash := failure.find_clash(error, lives):
        report.data.update(status="clash", clash=asdict(clash))


# Device and seed


def _seed(seed: int | None) -> None:
    if seed is None:
        return
    import random

    random.seed(seed)
    with contextlib.suppress(ImportError):
        import numpy

        numpy.random.seed(seed)
    with contextlib.suppress(ImportError):
        import torch

        torch.manual_seed(seed)


@contextlib.contextmanager
def _device(job: Job, report: _Report) -> Iterator[Lives]:
    """Bring up the device that the job wants; yields how tensors got their places."""
    on = job.on
    if on == "cpu" and not (job.record or job.steps):  # ours needs no torch; the program may not
        report.data.update(on=on, device="cpu")
        yield Lives()
        return
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise Refused(f"torch cannot be imported: {error}") from None
        how = f"{sys.executable} -m pip install torch"
        raise Refused(f"torch is needed to run programs, and is not installed: {how}") from None
    except (ImportError, OSError) as error:  # a library of the system's that it needs
        raise Refused(f"torch cannot be imported: {error}") from None
    if on == "auto":
        on = "cuda" if torch.cuda.is_available() else "virtual"
    report.data.update(on=on, device="cpu")
    if on == "virtual":
        try:
            device.bring_up(job.device_type, job.devices)
        except (RuntimeError, ValueError) as error:
            raise Refused(str(error)) from None
        report.data["device"] = job.device_type
    elif on == "cuda":
        if not torch.cuda.is_available():
            raise Refused("no CUDA device on this machine (on a virtual one: --on virtual)")
        report.data.update(device="cuda", name=torch.cuda.get_device_name())
    if not (job.record or job.steps):
        yield Lives()
        return
    if not job.record:
        from samedevice.prove.steps import noting

        with noting(waits=on == "cuda", sums=job.sums) as steps:
            report.record = lambda: steps.record().to_json()
            yield steps.lives
        return
    from samedevice.prove.watch import watching

    with watching(timed=on == "cuda") as watch:
        report.record = lambda: watch.record().to_json()
        yield watch.lives


if __name__ == "__main__":
    main()
