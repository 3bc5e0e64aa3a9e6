"""The programs that the oracle is asked about, and their runs.

Fixtures run as forks of one process. Real programs, in copies and in the environment that
`tests.real_programs` gives them, and test suites of libraries run in processes of their own.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fixtures.cases import cases
from tests.real_programs import catalogue, stage
from tests.real_programs.inputs import supply

from .compare import Compared, Seen, compare
from .inferred import infer
from .instrument import Key

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[3]
OBSERVE = [sys.executable, str(Path(__file__).with_name("start.py"))]


@dataclass(frozen=True)
class Target:
    """A program to run. `roots` are the folders whose files are its own.

    With an `env` it runs in a process of its own, with just that environment.
    """

    name: str
    folder: Path
    entry: str
    args: tuple[str, ...] = ()
    limit: int = 120
    roots: tuple[Path, ...] = ()
    env: dict[str, str] | None = None

    def request(self, report: Path) -> dict[str, Any]:
        """Return what `observe` is asked."""
        roots = [str(root) for root in self.roots or (self.folder,)]
        return {
            "id": self.name, "folder": str(self.folder), "entry": self.entry,
            "args": list(self.args), "roots": roots, "report": str(report), "limit": self.limit,
        }  # fmt: skip


def fixtures(to: Path, only: str = "") -> Iterator[Target]:
    """Lay out all versions of all fixtures below a folder."""
    for case in cases():
        if only not in case.name or any(
            importlib.util.find_spec(name) is None for name in case.needs
        ):
            continue
        for version in case.versions:
            folder = to / case.name / version
            case.lay_out(version, folder)
            yield Target(f"{case.name}/{version}", folder, case.entry, case.args)


def real(corpus: Path, to: Path, only: str = "", limit: int = 40) -> Iterator[Target]:
    """Lay out the real programs whose repositories lie below `corpus`; notebooks are left out."""
    programs = [one for one in catalogue.load() if not one.notebook and only in one.name]
    of_repository: Counter[str] = Counter()
    ranked = []
    for number, program in enumerate(programs):
        of_repository[program.repo] += 1
        ranked.append((of_repository[program.repo], number, program))
    # One of each repository first: a run that is cut short is still a fair sample.
    for _, number, program in sorted(ranked, key=lambda one: one[:2]):
        if not program.checkout(corpus).is_dir():
            continue
        folder = to / str(number)
        if not folder.exists():
            try:
                stage.copy_program(program, corpus, folder)
            except FileNotFoundError:
                continue
            supply(program, folder)
        home = to / "home"
        home.mkdir(exist_ok=True)
        env = stage.environment(program, to / "trace", home)
        budget = {"REAL_PROGRAMS_MAX_BACKWARDS": "15", **env, "SAMEDEVICE_VIRTUAL": "cuda:1"}
        script = os.path.relpath(folder / program.path, folder / program.folder)
        arguments = (*program.args, *program.device_args)
        name = f"{program.name} {' '.join(program.args)}".strip()
        yield Target(
            name, folder / program.folder, script, arguments, limit, (folder,), budget
        )  # fmt: skip


def suites(corpus: Path, only: str = "", limit: int = 240) -> Iterator[Target]:
    """The test suites of libraries whose repositories lie below `corpus`."""
    listed = tomllib.loads(Path(__file__).with_name("suites.toml").read_text("utf-8"))
    for one in listed["suite"]:
        checkout = corpus / one["repo"].replace("/", "+")
        if only not in one["repo"] or not checkout.is_dir():
            continue
        arguments = ("-q", "-x", "--maxfail=100000", "-p", "no:cacheprovider",
                     "--virtual-device=cuda", *one["tests"], *one.get("args", ()))  # fmt: skip
        env = {
            "PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "OMP_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join([str(checkout), str(ROOT / "codemods")]),
            "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        roots = tuple(checkout / package for package in one["packages"])
        yield Target(one["repo"], checkout, "pytest", arguments, limit, roots, env)


def observe(
    targets: Iterable[Target], reports: Path, jobs: int = 2
) -> Iterator[tuple[Target, int, str]]:
    """Run programs and yield each at its end, with its exit code and what it said last."""
    reports.mkdir(parents=True, exist_ok=True)
    targets = list(targets)
    here = threading.local()
    servers: list[Server] = []

    def one(target: Target) -> tuple[Target, int, str]:
        if target.env is not None:
            return target, *_alone(target, reports)
        if not hasattr(here, "server"):
            here.server = Server(reports)
            servers.append(here.server)
        return target, *here.server.run(target)

    with ThreadPoolExecutor(jobs) as executor:
        yield from executor.map(one, targets)
    for server in servers:
        server.close()


def _alone(target: Target, reports: Path) -> tuple[int, str]:
    """Run one program in a process of its own."""
    request = report_of(target, reports).with_suffix(".request")
    request.write_text(json.dumps(target.request(report_of(target, reports))), "utf-8")
    process = subprocess.Popen(
        [*OBSERVE, "--once", str(request)],
        env=target.env,
        cwd=target.folder,  # relative folders of PYTHONPATH are meant from there
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        said = process.communicate(timeout=target.limit + 60)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said = process.communicate()[0]
    return process.returncode, said[-2000:]


class Server:
    """Runs programs one after the other, as forks of one process that has torch."""

    def __init__(self, reports: Path) -> None:
        reports.mkdir(parents=True, exist_ok=True)
        self._reports = reports
        self._process: subprocess.Popen[str] | None = None

    def run(self, target: Target) -> tuple[int, str]:
        """Return a program's exit code and what it said last."""
        if self._process is None:
            self._process = subprocess.Popen(
                [*OBSERVE, "--serve"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
            )
        assert self._process.stdin is not None and self._process.stdout is not None
        request = target.request(report_of(target, self._reports))
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return answer["code"], answer["said"]

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.communicate()


def report_of(target: Target, reports: Path) -> Path:
    """Return the file that a program's run reports to."""
    name = re.sub(r"[^\w.+-]", "+", target.name)
    return reports / f"{name[:200]}.json"


def judge(target: Target, reports: Path) -> Compared | None:
    """Compare one program's run with what is inferred; None when it told nothing."""
    seen = read(report_of(target, reports))
    if not seen:
        return None
    roots = target.roots or (target.folder,)
    paths = sorted(path for root in roots for path in root.rglob("*.py"))
    program = infer(paths)
    shown = {
        str(path): path.relative_to(root).as_posix()
        for root in roots for path in root.rglob("*.py")
    }  # fmt: skip
    return compare(target.name, program, seen, shown)


def read(report: Path) -> dict[str, Seen]:
    """Return what a run and its workers saw, file by file."""
    found: dict[str, Seen] = {}
    for part in [report, *report.parent.glob(f"{report.name}.*")]:
        if not part.is_file():
            continue
        for path, key, counts in json.loads(part.read_text("utf-8"))["seen"]:
            one: Key = tuple(key)
            known = found.setdefault(path, {}).setdefault(one, {})
            for what, device, how, count in counts:
                known[what, device, how] = known.get((what, device, how), 0) + count
    return found
