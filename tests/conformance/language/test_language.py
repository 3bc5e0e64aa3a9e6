"""Every pair of the suite does what it says when it runs, and `check` knows without running it."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from samedevice.migration.check import check, is_wrong
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project

from . import CLASH, TWIN, Pair, pairs

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
#: What `check` does not get right yet, and why: names of pairs by which of the two is judged wrong.
PENDING: dict[str, dict[str, str]] = tomllib.loads((HERE / "pending.toml").read_text("utf-8"))

here = [pair for pair in pairs() if pair.runs_here]


@pytest.fixture(scope="session")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """Yield what runs a program on the virtual accelerator and returns what ended it."""
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("language")
    server = subprocess.Popen(
        [sys.executable, str(HERE / "execute.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert server.stdin is not None and server.stdout is not None
    answers, numbers = server.stdout, itertools.count()

    def run(text: str) -> str:
        path = folder / f"program_{next(numbers)}.py"
        path.write_text(text, "utf-8")
        server.stdin.write(f"{path}\n")  # type: ignore[union-attr]
        server.stdin.flush()  # type: ignore[union-attr]
        answer: str = json.loads(answers.readline())
        return answer

    yield run
    server.communicate()


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.parametrize("pair", here, ids=lambda pair: pair.name)
def test_run(pair: Pair, ended: Callable[[str], str]) -> None:
    """The first stops where two places meet, its twin does not stop."""
    assert not ended(pair.program(TWIN))
    error = ended(pair.program(CLASH))
    assert any(word in error for word in ("device", "cuda")), error or "it ran to its end"


def cases(which: str) -> list[object]:
    """Return the pairs, those marked of which one is not judged rightly yet."""
    causes = PENDING.get(which, {})
    return [
        pytest.param(
            pair,
            id=pair.name,
            marks=[pytest.mark.xfail(strict=True, reason=causes[pair.name])]
            if pair.name in causes
            else [],
        )
        for pair in here
    ]


@pytest.mark.parametrize("pair", cases(CLASH))
def test_clash_is_found(pair: Pair) -> None:
    """Something is found in the program that stops."""
    assert findings(pair.program(CLASH)), "nothing is found"


@pytest.mark.parametrize("pair", cases(TWIN))
def test_twin_is_left_alone(pair: Pair) -> None:
    """Nothing is found in the program that is right."""
    assert not findings(pair.program(TWIN))


def test_pending_names_exist() -> None:
    """What is listed as pending is a pair."""
    names = {pair.name for pair in pairs()}
    assert {name for causes in PENDING.values() for name in causes} <= names


def findings(text: str) -> list[str]:
    """Return what `check` finds in a program."""
    project = Project([source.from_text(text, "main.py")])
    found = check(project, Config())
    assert not project.errors, project.errors
    return [f"{f.span.line}: {f.rule}: {f.message}" for f in found if is_wrong(f)]
