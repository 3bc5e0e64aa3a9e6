"""`samedevice fix` that is killed at any moment leaves every file as it was or as it becomes."""

from __future__ import annotations

import os
import random
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
SURE = 10  # so many kills leave some files new and some old
SECONDS = 300


def contents(folder: Path) -> dict[str, bytes]:
    """Return the programs in `folder` by name."""
    return {path.name: path.read_bytes() for path in folder.glob("*.py")}


def restore(folder: Path, old: dict[str, bytes]) -> None:
    """Make `folder` what it was, at the price of the files that changed only."""
    for path in folder.iterdir():
        if path.name not in old:
            path.unlink()
        elif path.read_bytes() != old[path.name]:
            path.write_bytes(old[path.name])


def fix(folder: Path) -> subprocess.Popen[bytes]:
    """Start a fix of `folder`."""
    return subprocess.Popen(
        [sys.executable, "-m", "samedevice", "fix", "--yes", "."],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def until_writing(process: subprocess.Popen[bytes], folder: Path) -> None:
    """Wait until `process` makes its first file in `folder`, or ends."""
    untouched = folder.stat().st_mtime_ns
    while process.poll() is None and folder.stat().st_mtime_ns == untouched:
        time.sleep(0.001)


def kill(folder: Path, seconds: float, writing: bool) -> None:
    """Fix `folder` and kill that after `seconds`, of writing or of all its work."""
    process = fix(folder)
    try:
        if writing:
            until_writing(process, folder)
        time.sleep(seconds)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize(
    ("files", "times"),
    [(50, 3), pytest.param(500, int(os.environ.get("KILLS", "50")), marks=pytest.mark.slow)],
)
def test_kill(tmp_path: Path, files: int, times: int) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    for number in range(files):
        (folder / f"program{number}.py").write_text(PROGRAM.format(number=number), "utf-8")
    old = contents(folder)
    began = time.monotonic()
    assert fix(folder).wait(SECONDS) == 0
    all_of_it = time.monotonic() - began
    new = contents(folder)
    assert all(old[name] != new[name] for name in old), "all of them are to be changed"
    written = [(folder / name).stat().st_mtime for name in new]
    writes = max(written) - min(written)

    chance = random.Random(7)
    done, left = [], 0
    for turn in range(times):
        restore(folder, old)
        writing = turn % 5 > 0  # most of the time is taken by what writes nothing
        kill(folder, chance.random() * (writes if writing else all_of_it), writing)
        now = contents(folder)
        assert now.keys() == old.keys(), "a file is gone or new"
        torn = [name for name, data in now.items() if data not in (old[name], new[name])]
        assert not torn, f"neither the old nor the new file: {torn}"
        done.append(sum(data != old[name] for name, data in now.items()))
        beside = [path.name for path in folder.iterdir() if path.name not in old]
        assert len(beside) <= 1, f"more than the one file that was being written: {beside}"
        assert all(name.startswith(".") and name.endswith(".tmp") for name in beside)
        left += len(beside)
    between = sum(0 < some < files for some in done)
    print(f"{times} kills: {done.count(0)} before anything was written, {between} in between, "
          f"{done.count(files)} after the last file; {left} left a temporary file")  # fmt: skip
    assert between or times < SURE, "no kill came while files were written"

    restore(folder, old)
    kill(folder, writes / 2, writing=True)
    assert fix(folder).wait(SECONDS) == 0
    assert contents(folder) == new, "a later run finishes the work"
