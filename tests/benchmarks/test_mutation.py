"""A part of the mutation bench that is fast enough for every run of the tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("numpy")
from tests.fixtures.cases import cases

from .bench_mutation import FORKSERVER, Fixture, measure, mutants

PROGRAMS = ("projects/dqn", "projects/gan", "projects/mean_teacher")


@pytest.mark.torch
def test_what_is_taken_out_comes_back(tmp_path: Path) -> None:
    chosen = [case for case in cases() if case.name in PROGRAMS]
    with subprocess.Popen(
        [sys.executable, str(FORKSERVER), "1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        right = [Fixture(case, server, tmp_path) for case in chosen]
        tallies = measure(right, each=1, seed=0, scratch=tmp_path, show=True, minutes=9)
        assert server.stdin is not None
        server.stdin.close()
    for kind in ("one", "all", "cuda"):
        assert tallies[kind].broken == len(PROGRAMS)
        assert not tallies[kind].lost


PROGRAM = """\
import torch
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.zeros(2, device=device)
y = torch.ones(2).to(device)
print(f"{x.to(device)}")
"""


def test_mutants() -> None:
    made = [(kind, files["a.py"].splitlines()) for kind, files in mutants({"a.py": PROGRAM})]
    assert [kind for kind, _ in made] == ["one", "one", "one", "all", "cuda"]
    assert {lines[2] for _, lines in made} >= {"x = torch.zeros(2)"}
    assert made[-1][1][2:] == [
        'x = torch.zeros(2, device="cuda")',
        "y = torch.ones(2).cuda()",
        'print(f"{x.to(device)}")',
    ]
