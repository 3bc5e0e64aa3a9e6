"""What should become of the smallest programs of causes; `cases.toml` says why some do not yet."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from .catalogue import Case, Files, cases, objections
from .running import Runner, Where, broken, repaired


def _marked(aspect: str) -> list[object]:
    """Return the cases; those that are known to fail have to fail."""
    known = {
        case: [pytest.mark.xfail(reason=case.cause, strict=True, raises=AssertionError)]
        for case in cases()
        if aspect in case.pending
    }
    return [pytest.param(case, id=case.name, marks=known.get(case, ())) for case in cases()]


@cache
def _repaired(case: Case) -> tuple[Files, list[str]]:
    return repaired(case.files)


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    pytest.importorskip("torch")
    pytest.importorskip("numpy")
    with Runner() as running:
        yield running


@pytest.mark.parametrize("case", _marked("text"))
def test_text(case: Case) -> None:
    after, errors = _repaired(case)
    assert not errors
    assert not objections(case, case.files, after)


@pytest.mark.torch
@pytest.mark.parametrize("case", _marked("cpu"))
def test_cpu(case: Case, runner: Runner) -> None:
    _went(case, runner, "cpu")


@pytest.mark.torch
@pytest.mark.parametrize("case", _marked("device"))
def test_device(case: Case, runner: Runner) -> None:
    _went(case, runner, "virtual")


def _went(case: Case, runner: Runner, where: Where) -> None:
    after, _ = _repaired(case)
    before = runner.run(case.files, case.entry, where, gpus=case.gpus)
    then = before if after == case.files else runner.run(after, case.entry, where, gpus=case.gpus)
    assert not broken(case, before, then, where)


def test_pending_names_what_there_is() -> None:
    assert {aspect for case in cases() for aspect in case.pending} <= {"text", "cpu", "device"}
    assert all(bool(case.pending) == bool(case.cause) for case in cases())
