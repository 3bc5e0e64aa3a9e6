"""How far a long run is: it moves at once, and foretells nothing that it has to take back."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress

from samedevice.cli import screen
from samedevice.cli.progress import Left, Rounds
from samedevice.migration import check
from samedevice.reading import reader
from samedevice.reading.config import Config

MODULE = """import torch


class Net{0}(torch.nn.Module):
    def forward(self, x):
        return x
"""


def project(folder: Path, files: int) -> Path:
    """Write one program of many files that import each other in a row."""
    folder.mkdir()
    for number in range(files):
        before = f"from m{number - 1} import Net{number - 1}\n" if number else ""
        (folder / f"m{number}.py").write_text(before + MODULE.format(number))
    return folder


def test_all_files_are_told_once_and_on_the_way(tmp_path: Path) -> None:
    there = project(tmp_path / "p", 30)
    told: list[int] = []
    read = reader.read([str(there)], Config())
    check.check(read, Config(), told.append)
    assert sum(told) == 30
    assert len([files for files in told if files]) > 3, "one program is not told of at its end only"


def test_nothing_is_foretold_before_it_holds_still() -> None:
    steady, hasty = Left(), Left()
    left = [steady.left(second, second * 10, 1000) for second in range(1, 60)]
    assert left[:17] == [None] * 17, "a tenth has to be done, and eight seconds have to agree"
    assert left[30] == pytest.approx(69)
    slower = [hasty.left(second, 300 * second**0.5, 3000) for second in range(1, 40)]
    assert slower == [None] * 39, "it slows down, so that each end that is foretold is wrong"


def test_a_round_of_its_own_foretells_anew() -> None:
    left = Left()
    for second in range(1, 40):
        left.left(second, second * 10, 1000)
    assert left.left(0.5, 500, 1000) is None


def test_rounds_are_counted() -> None:
    with Progress(console=Console(file=io.StringIO())) as progress:
        rounds = Rounds(progress, "fixing", 10)
        rounds.step(10)
        rounds.step(0)
        assert progress.tasks[0].description == "fixing"
        rounds.step(4)
        assert progress.tasks[0].description == "fixing, round 2"
        assert progress.tasks[0].completed == 4


@pytest.mark.skipif(os.name != "posix", reason="a terminal is made as Unix makes it")
def test_a_terminal_sees_files_done_of_all(tmp_path: Path) -> None:
    there = project(tmp_path / "p", screen.LONG + 1)
    ours, theirs = pty.openpty()
    begun = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-m", "samedevice", "check", "--no-cache", str(there)],
        stdout=subprocess.PIPE, stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    ):  # fmt: skip
        os.close(theirs)
        seen = b""
        while time.monotonic() - begun < 120:
            try:
                data = os.read(ours, 65536)
            except OSError:  # Linux's way to say that the terminal is closed
                break
            if not data:
                break
            seen += data
    os.close(ours)
    assert f"of {screen.LONG + 1}" in seen.decode()
    assert "nothing wrong in 201 files" in seen.decode()
