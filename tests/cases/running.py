"""Repair programs and run them, before and after, on the CPU and on the virtual accelerator."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from samedevice.migration import migrate
from samedevice.reading.config import load

from .catalogue import STUBS, Case, Files, texts, write

FORKSERVER = Path(__file__).parents[1] / "fixtures" / "forkserver.py"
Where = Literal["cpu", "virtual"]


@dataclass(frozen=True)
class Ran:
    """How a program went; `report` is what `samedevice.prove` says about a virtual run."""

    code: int
    stdout: str
    stderr: str
    report: dict[str, Any] = field(default_factory=dict)

    @property
    def computed_there(self) -> bool:
        """Whether an operation ran on the accelerator."""
        operations = self.report.get("record", {}).get("operations", {})
        return any(place.startswith("cuda") for place in operations)

    @property
    def last_line(self) -> str:
        """What it said last, which for an exception is the exception."""
        lines = [line for line in self.stderr.splitlines() if line.strip()]
        return lines[-1] if lines else ""


def repaired(files: Files, unsafe: bool = False) -> tuple[Files, list[str]]:
    """Return what `samedevice fix --yes` makes of a program, and the errors it tells."""
    with tempfile.TemporaryDirectory() as folder:
        write(files, Path(folder))
        config = load([folder]).with_flags(unsafe=unsafe)
        outcome = migrate.migrate(migrate.read([folder], config), config)
        migrate.apply(outcome)
        after = {**files, **texts(Path(folder))}  # with the data that lies beside the code
        return after, [error.message for error in outcome.errors]


class Runner:
    """Runs programs in forked processes that have torch imported already."""

    def __enter__(self) -> Runner:
        self._scratch = tempfile.TemporaryDirectory()
        paths = [str(STUBS), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._server = subprocess.Popen(
            [sys.executable, str(FORKSERVER), "1"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(paths)},
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait()
        self._scratch.cleanup()

    def run(
        self, files: Files, entry: str, on: Where, args: Iterable[str] = (), gpus: int = 1
    ) -> Ran:
        """Run a program in a folder of its own; again if the limit of time ended it.

        gloo may wait for itself, once in thousands of programs.
        """
        ran = self._run(files, entry, on, args, gpus)
        return self._run(files, entry, on, args, gpus) if ran.code == -signal.SIGALRM else ran

    def _run(self, files: Files, entry: str, on: Where, args: Iterable[str], gpus: int) -> Ran:
        folder = tempfile.mkdtemp(dir=self._scratch.name)
        write(files, Path(folder))
        request = {"id": 0, "folder": folder, "entry": entry, "args": list(args), "on": on}
        request["gpus"] = gpus
        request["report"] = f"{folder}.json"
        assert self._server.stdin is not None and self._server.stdout is not None
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        answer = json.loads(self._server.stdout.readline())
        del answer["id"]
        return Ran(**answer)


def broken(case: Case, before: Ran, after: Ran, where: Where) -> list[str]:
    """Return what of a run is not as the case wants it; the same run twice: nothing changed."""
    wanted = case.cpu if where == "cpu" else case.device
    if before.code == 0 and after.code:
        return [f"breaks on {where}: {after.last_line[:150]}"]
    if before.code == 0 and where == "cpu" and before.stdout != after.stdout:
        return [f"prints something else on {where}"]
    if wanted == "same" and before.code:
        return [f"does not run before on {where}: {before.last_line[:150]}"]
    if wanted in ("runs", "computes") and after.code:
        return [f"fails on {where}: {after.last_line[:150]}"]
    if wanted == "whole" and after.code and after is not before:
        return [f"is repaired in part and fails on {where}: {after.last_line[:150]}"]
    if wanted == "fails" and not after.code:
        return [f"runs on {where}, where it is meant to fail"]
    if wanted == "computes" and not after.computed_there:
        return ["computes on the host"]
    return []
