"""Who has a program executed is told what may contain it, before it begins."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from samedevice import doctor
from samedevice.batch import sandbox
from samedevice.prove import commands

from .hostile import CODE, environment, run, samedevice


@pytest.mark.parametrize(("kind", "state", "words"), [
    ("bwrap", "ok", "bubblewrap shuts in"),
    ("unshare", "note", "can write outside"),
    ("", "note", "can write outside"),
])  # fmt: skip
def test_doctor(kind: str, state: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "sandbox", lambda: kind)
    check = doctor._sandbox()
    assert check.state == state and words in check.detail
    assert "run, prove and fix --run execute programs with your rights" in check.detail


def test_run_says_so_to_a_person(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands._warn("x")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    commands._warn("main.py runs with your rights")
    assert capsys.readouterr().err.startswith("note: main.py runs with your rights")


def test_a_batch_says_what_does_not_hold(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "main.py").write_text(CODE)
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-qm", "a"]):
        subprocess.run(["git", *words], cwd=tmp_path / "project", check=True)
    env = environment(tmp_path / "home")
    told = []
    for number, proof in enumerate((["--proof", "true"], [])):
        words = ["batch", "run", "project", *proof, "--folder", f"../batch{number}"]
        told.append(run(samedevice(*words), tmp_path, env).stderr)
    said = "can write outside of their folder"
    assert (said in told[0]) == (sandbox.sandbox() != "bwrap")
    assert said not in told[1]
