"""Generated programs keep their CPU results, and run on the accelerator once they are fixed."""

from __future__ import annotations

import ast
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, Phase, given, settings

from samedevice.migration import migrate
from samedevice.reading.config import Config

from .programs import programs

FORKSERVER = Path(__file__).parents[1] / "fixtures" / "forkserver.py"
EXAMPLES = int(os.environ.get("EXAMPLES", "300"))
ANYTIME = settings(
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)


class Runner:
    """Runs programs one after the other in forks of a process that has torch."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.numbers = itertools.count()
        self.process = subprocess.Popen(
            [sys.executable, str(FORKSERVER), "1"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, text: str, on: str) -> dict[str, Any]:
        """Return the forkserver's answer about a program."""
        folder = self.folder / str(next(self.numbers))
        folder.mkdir()
        (folder / "program.py").write_text(text, "utf-8")
        request = {"id": 0, "folder": str(folder), "entry": "program.py", "args": [], "on": on}
        request["report"] = f"{folder}.json"
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())  # type: ignore[no-any-return]

    def close(self) -> None:
        """End the server."""
        self.process.communicate()


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    pytest.importorskip("torch")
    pytest.importorskip("numpy")
    one = Runner(tmp_path_factory.mktemp("programs"))
    yield one
    one.close()


def fixed(text: str, folder: Path) -> str:
    """Return `text` as samedevice repairs it, once it is known that it stays like that."""
    file = folder / "program.py"
    file.write_text(text, "utf-8")
    for turn in range(2):
        outcome = migrate.migrate(migrate.read([str(file)], Config()), Config())
        assert not outcome.errors, outcome.errors
        assert not (turn and outcome.changes), "a second run changes it"
        migrate.apply(outcome)
    after = file.read_text("utf-8")
    ast.parse(after)
    return after


def holds(text: str, folder: Path, runner: Runner) -> None:
    """Assert all that is promised of a fixed program."""
    before = runner.run(text, "cpu")
    assert before["code"] == 0, f"the generator is wrong:\n{text}\n{before['stderr']}"
    after = fixed(text, folder)
    if after != text:
        ran = runner.run(after, "cpu")
        assert ran["code"] == 0, f"{after}\n{ran['stderr']}"
        assert ran["stdout"] == before["stdout"], after
    there = runner.run(after, "virtual")
    assert there["code"] == 0, f"{after}\n{there['stderr']}"
    record = there["report"]["record"]
    assert any(place.startswith("cuda") for place in record["operations"]), after
    for optimizer in record["optimizers"]:
        assert set(optimizer["devices"]) <= {"cuda:0"}, after


@pytest.mark.torch
@settings(ANYTIME, max_examples=8, derandomize=True, phases=[Phase.generate])
@given(text=programs())
def test_a_few(text: str, tmp_path_factory: pytest.TempPathFactory, runner: Runner) -> None:
    holds(text, tmp_path_factory.mktemp("fix"), runner)


@pytest.mark.slow
@pytest.mark.torch
@settings(ANYTIME, max_examples=EXAMPLES)
@given(text=programs())
def test_many(text: str, tmp_path_factory: pytest.TempPathFactory, runner: Runner) -> None:
    holds(text, tmp_path_factory.mktemp("fix"), runner)
