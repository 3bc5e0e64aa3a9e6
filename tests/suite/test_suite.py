"""Every defect of the suite is repaired or told, and no right program changes.

`pending.toml` says what fails today, and why.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cases.running import Runner

from . import catalogue, running
from .catalogue import PROGRAMS, Program, programs, repaired
from .page import PAGE, page
from .running import Runs


def _marked(aspect: str) -> list[object]:
    """Return the programs; those that are known to fail have to fail."""
    return [
        pytest.param(
            program,
            id=program.name,
            marks=[pytest.mark.xfail(reason=program.cause, strict=True, raises=AssertionError)]
            if aspect in program.pending
            else [],
        )
        for program in programs()
    ]


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    pytest.importorskip("torch")
    pytest.importorskip("numpy")
    with Runner() as running:
        yield running


@pytest.fixture(scope="module")
def ran() -> dict[str, Runs]:
    """How programs ran before any repair, by their names."""
    return {}


@pytest.mark.parametrize("program", _marked("text"))
def test_text(program: Program) -> None:
    assert not catalogue.objections(program, repaired(program))


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("program", programs(), ids=str)
def test_before(program: Program, runner: Runner, ran: dict[str, Runs]) -> None:
    assert not running.is_as_told(program, _before(program, runner, ran))


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("program", _marked("run"))
def test_runs(program: Program, runner: Runner, ran: dict[str, Runs]) -> None:
    after = repaired(program)
    before = _before(program, runner, ran)
    then = before if after.files == program.files else running.run(after.files, runner)
    assert not running.objections(program, after, before, then)


def _before(program: Program, runner: Runner, ran: dict[str, Runs]) -> Runs:
    if program.name not in ran:
        ran[program.name] = running.run(program.files, runner)
    return ran[program.name]


def test_page() -> None:
    assert page() == PAGE.read_text("utf-8"), "python -m tests.suite --page writes it"


def test_size() -> None:
    right = [program for program in programs() if program.kind == "right"]
    assert len(programs()) >= 300
    assert len({program.area for program in programs()}) >= 60
    assert 0.4 < len(right) / len(programs()) < 0.6


def test_table_is_whole() -> None:
    for program in programs():
        assert bool(program.wrong) == bool(program.before) == (program.kind == "defect"), program
        assert bool(program.why) == (program.kind == "right"), program
        assert set(program.pending) <= {"text", "run"}, program
        assert bool(program.pending) == bool(program.cause), program


def test_every_program_is_in_the_table() -> None:
    names = {program.name for program in programs()}
    for path in PROGRAMS.rglob("*"):
        if path.suffix in (".py", ".ipynb"):
            parts = path.relative_to(PROGRAMS).with_suffix("").parts
            assert "/".join(parts[:2]) in names, path
    assert all(program.files for program in programs())
