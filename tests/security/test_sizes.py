"""What is announced or found in great number is bounded, or takes time that grows with it alone."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from pathlib import Path

import pytest

from samedevice import files, reading
from samedevice.check import check
from samedevice.config import Config, ConfigError, load

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
    project = reading.read([str(path)], Config())
    assert not project.errors and check(project, Config()) == []
    assert time.process_time() - started < 20


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
            found = reading.read([str(tmp_path)], config)
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
