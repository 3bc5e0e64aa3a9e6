"""A part of the disturbed programs that is fast enough for every run of the tests."""

from __future__ import annotations

import ast

import pytest

pytest.importorskip("torch")
pytest.importorskip("numpy")
from tests.fixtures.cases import cases

from .disturb import DISTURBANCES, disturbed, measure

PROGRAMS = ("projects/dqn", "projects/gan", "rules/not-moved-to-cpu/model_output")
TEXT = """\
import torch
device = torch.device("cpu")
x = torch.ones(1, device=device)


def f(a):
    return a - x


print(f(x))
"""


@pytest.mark.torch
def test_nothing_that_runs_breaks() -> None:
    chosen = [case for case in cases() if case.name in PROGRAMS]
    tallies = measure(chosen, each=2, seed=1, minutes=9, show=True)
    assert sum(tally.edited for tally in tallies.values()) >= 3
    assert not [name for tally in tallies.values() for name in tally.broken]


@pytest.mark.parametrize("way", DISTURBANCES, ids=lambda way: way.__name__)
def test_a_disturbed_program_prints_the_same(
    way: object, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = disturbed({"program.py": TEXT}, "program.py", way)  # type: ignore[arg-type]
    if changed is None:  # its `device` is one
        assert way.__name__ == "taken_name"  # type: ignore[attr-defined]
        return
    text = changed["program.py"]
    assert ast.dump(ast.parse(text)) != ast.dump(ast.parse(TEXT))
    if way.__name__ == "worker":  # type: ignore[attr-defined]
        return  # it starts a process that imports the file
    exec(compile(text, "program.py", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == "tensor([0.])\n"
