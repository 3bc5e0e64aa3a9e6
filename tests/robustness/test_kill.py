"""`samedevice fix` that is killed at any moment leaves every file as it was or as it becomes."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model{number} = nn.Linear(4, 4)
model{number}.to(device)
x = torch.ones(2, 4)
print(model{number}(x).sum().item())
"""
FILES = 500
SECONDS = 300


def contents(folder: Path) -> dict[str, bytes]:
    """Return the programs in `folder` by name; what a killed process left beside is none."""
    return {path.name: path.read_bytes() for path in folder.glob("*.py")}


def fix(folder: Path) -> subprocess.Popen[bytes]:
    """Start a fix of `folder`."""
    return subprocess.Popen(
        [sys.executable, "-m", "samedevice", "fix", "--yes", "."],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def killed(start: Path, folder: Path, seconds: float, writing: bool) -> dict[str, bytes]:
    """Return what a fix leaves that is killed after `seconds`, of writing or of all its work."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(start, folder)
    untouched = set(os.listdir(folder)), os.stat(folder).st_mtime_ns
    process = fix(folder)
    try:
        while writing and process.poll() is None:
            if (set(os.listdir(folder)), os.stat(folder).st_mtime_ns) != untouched:
                break
            time.sleep(0.001)
        time.sleep(seconds)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    return contents(folder)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("times", [int(os.environ.get("KILLS", "50"))])
def test_kill(tmp_path: Path, times: int) -> None:
    start, whole = tmp_path / "start", tmp_path / "whole"
    start.mkdir()
    for number in range(FILES):
        (start / f"program{number}.py").write_text(PROGRAM.format(number=number), "utf-8")
    shutil.copytree(start, whole)
    began = time.monotonic()
    assert fix(whole).wait(SECONDS) == 0
    took = time.monotonic() - began
    old, new = contents(start), contents(whole)
    assert all(old[name] != new[name] for name in old), "all of them are to be changed"

    chance = random.Random(7)
    mixed = before = 0
    for turn in range(times):
        writing = turn % 5 > 0  # most of the time is taken by what writes nothing
        moment = chance.random() * (0.5 if writing else took)
        now = killed(start, tmp_path / "killed", moment, writing)
        assert now.keys() == old.keys(), "a file is gone or new"
        torn = [name for name, data in now.items() if data not in (old[name], new[name])]
        assert not torn, f"neither the old nor the new file: {torn}"
        done = sum(data != old[name] for name, data in now.items())
        mixed += 0 < done < FILES
        before += done == 0
    print(f"{times} kills, {before} of them before anything was written, {mixed} in between")
    assert mixed or times < 10, "no kill came while files were written"

    assert fix(tmp_path / "killed").wait(SECONDS) == 0
    assert contents(tmp_path / "killed") == new, "a later run finishes the work"
