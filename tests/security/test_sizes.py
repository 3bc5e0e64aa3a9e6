"""What is announced or found in great number is bounded, or takes time that grows with it alone."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from pathlib import Path

import pytest

from samedevice.migration.check import check
from samedevice.reading import files, reader
from samedevice.reading.config import Config, ConfigError, load

from .hostile import environment, run, samedevice


@pytest.mark.parametrize("head", [
    "Content-Length: 99999999999\r\n\r\n{}",
    "Content-Length: 999999999999999999999999999999\r\n\r\n{}",
    "Content-Length: " + "9" * 10_000 + "\r\n\r\n",
    "x" * 1_000_000,
], ids=["99999999999", "more", "digits", "line"])  # fmt: skip
def test_messages_to_the_server(head: str, tmp_path: Path) -> None:
    pytest.importorskip("pygls")
    done = run(samedevice("server"), tmp_path, environment(tmp_path / "home"), head)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1, done.stderr
    assert len(done.stderr) < 300


def test_a_notebook_of_pictures(tmp_path: Path) -> None:
    picture = {"output_type": "display_data", "data": {"image/png": "a" * 6_000_000}}
    code = {"cell_type": "code", "metadata": {}, "source": ["import torch\n", "x = 1"]}
    cells = [{**code, "outputs": [picture]} for _ in range(10)]
    path = tmp_path / "main.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    assert path.stat().st_size > 60_000_000
    started = time.process_time()
    project = reader.read([str(path)], Config())
    assert not project.errors and check(project, Config()) == []
    assert time.process_time() - started < 20


def _generated(findings: int) -> str:
    """Return a file as a program writes them: findings of several kinds, in each sort of home."""
    flat = "".join(
        f"x{number} = torch.ones(3).cuda()\nx = x{number}\n" for number in range(findings // 4)
    )
    functions = "".join(FUNCTION.format(number=number) for number in range(findings // 12))
    methods = "".join(METHOD.format(number=number) for number in range(findings // 16))
    same = "    a = torch.ones(3).cuda()\n    print(a)\n" * (findings // 4)
    return (
        f"import torch\n{flat}\n\ndef same():\n{same}\n\nsame()\n{functions}{CLASS}{methods}{MADE}"
    )


FUNCTION = """

def f{number}(y):
    a = torch.ones(3).cuda()
    b = torch.zeros(3, device="cuda")
    if torch.cuda.is_available():
        b = b.cuda()
    return a + b


f{number}(1)
"""
CLASS = """

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(3, 3)
"""
METHOD = """
    def f{number}(self, x):
        a = torch.ones(3).cuda()
        h = torch.zeros(3, device="cuda")
        h = torch.cuda.FloatTensor(3) + h
        return self.a(x + a) + h.cuda()
"""
MADE = "\n\nnet = Net().cuda()\nnet.f0(torch.ones(3).cuda())\n"


@pytest.mark.slow
@pytest.mark.parametrize(("words", "number"), [
    (["check"], 1000),
    (["fix", "--diff", "--report", "changes.json"], 250),
])  # fmt: skip
def test_findings_in_one_file_cost_what_their_number_says(
    words: list[str], number: int, tmp_path: Path
) -> None:
    """Eight times as many may cost some more than that: what is quadratic costs 64 times."""
    env = environment(tmp_path / "home")
    spent = []
    for findings in (16, number, 8 * number):
        (tmp_path / "main.py").write_text(_generated(findings))
        before = os.times()
        done = run(samedevice(*words, "--no-cache", "main.py"), tmp_path, env, seconds=600)
        after = os.times()
        assert done.returncode == 1, done.stderr
        spent.append(
            after.children_user + after.children_system
            - before.children_user - before.children_system
        )  # fmt: skip
    start, few, many = spent
    assert many - start < 14 * (few - start), spent


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
@pytest.mark.parametrize("name", ["main.py", "pyproject.toml", "requirements.txt", ".gitignore",
                                  "setup.py", "setup.cfg", "environment.yml"])  # fmt: skip
def test_files_that_never_end(name: str, tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("import torch\n")
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(60)
    try:
        for make in (os.mkfifo, lambda path: os.symlink("/dev/zero", path)):
            make(tmp_path / name)
            config = load([str(tmp_path)]) if name != "pyproject.toml" else Config()
            with contextlib.suppress(ConfigError):
                load([str(tmp_path)])
            found = reader.read([str(tmp_path)], config)
            assert str(tmp_path / "code.py") in found.sources
            (tmp_path / name).unlink()
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_what_is_walked_is_below_the_folder(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.py").touch()
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "outside")
    (folder / "link.py").symlink_to(tmp_path / "outside" / "secret.py")
    (folder / "loop").symlink_to(folder)
    assert files.find([str(folder)]).paths == []
