"""Who has a program executed is told what may contain it, before it begins."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from samedevice.batch import sandbox
from samedevice.cli import app, installation
from samedevice.migration import by_running
from samedevice.prove import run as run_

from .hostile import CODE, environment, run, samedevice


@pytest.mark.parametrize(("kind", "state", "words"), [
    ("bwrap", "ok", "bubblewrap isolates"),
    ("unshare", "note", "can write outside"),
    ("", "note", "can write outside"),
])  # fmt: skip
def test_doctor(kind: str, state: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "sandbox", lambda: kind)
    check = installation._sandbox()
    assert check.state == state and words in check.detail
    assert "run, prove and fix --run execute programs with your rights" in check.detail


@pytest.mark.parametrize("command", ["run", "prove"])
def test_run_and_prove_say_so_before_they_run_a_program(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing has run by then."""
    told: list[str] = []

    def enough(*args: object, **settings: object) -> None:
        told.append(capsys.readouterr().err)
        raise run_.ProgramError("enough")

    monkeypatch.setattr("samedevice.prove.run.run_program", enough)
    monkeypatch.setattr("samedevice.prove.prover.Prover.checks", enough)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "main.py").write_text(CODE)
    arguments = ["main.py"] if command == "run" else [".", ".", "--entry", "main.py"]
    with pytest.raises(SystemExit):
        app([command, *arguments])
    assert told and "with your rights" in told[0] and "in no sandbox" in told[0]


@pytest.mark.parametrize(("option", "runs"), [("--run", "by_running"), ("--prove", "proved")])
def test_fix_says_so_before_it_runs_a_program(
    option: str,
    runs: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    told: list[str] = []

    def execute(*args: object) -> None:
        told.append(capsys.readouterr().err)
        raise run_.ProgramError("enough")

    monkeypatch.setattr(by_running, runs, execute)
    (tmp_path / "main.py").write_text(CODE)
    with pytest.raises(SystemExit) as ended:
        app(["fix", "--yes", option, "main.py", str(tmp_path)])
    assert ended.value.code == 2
    assert told == [
        "note: main.py runs with your rights, in no sandbox: it can write outside of its copy\n"
    ]
    assert (tmp_path / "main.py").read_text() == CODE


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
