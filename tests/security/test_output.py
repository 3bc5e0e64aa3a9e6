"""Names of files and folders steer no terminal, no page, no table and no diff."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from .hostile import CODE, environment, run, samedevice

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")

NAMES = [
    "\x1b[31mred\x1b]0;title\x07.py",
    "two\nlines.py",
    "++\n+++ b\\..\\evil.py",
    "back\x08\x08\rover.py",
    "right\u202eyp.left.py",
    "\x9b2J.py",
    "=1+1.py",
    "<img src=x onerror=alert(1)>.py",
    "%0A::error::x,y:z.py",
    "::warning::x.py",
    "`$(x)`[a](b).py",
    os.fsdecode(b"latin\xe9.py"),
]
#: What none of them may hold: what is not printable, but for lines and tabs of code.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    for name in NAMES:
        (folder / name).write_text(CODE)
        (folder / f"not {name}").write_text("import torch\nprint 'a'\n")
    return folder


COMMANDS = {
    "text": ["check", "."],
    "github": ["check", "--format=github", "."],
    "json": ["check", "--format=json", "."],
    "sarif": ["check", "--format=sarif", "."],
    "gitlab": ["check", "--format=gitlab", "."],
    "diff": ["fix", "--diff", "."],
    "html": ["fix", "--diff", "--report=../out.html", "."],
    "markdown": ["fix", "--diff", "--report=../out.md", "."],
    "map": ["map", "--output=../out.html", "."],
    "baseline": ["check", "--baseline=../out.txt", "--write-baseline", "."],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_names_in_every_form(name: str, folder: Path, tmp_path: Path) -> None:
    done = run(samedevice(*COMMANDS[name]), folder, environment(tmp_path / "home"))
    written = [path.read_bytes().decode("utf-8", "replace") for path in tmp_path.glob("out.*")]
    for text in (done.stdout, done.stderr, *written):
        assert _STEERING.findall(text) == []
    for path in tmp_path.glob("out.html"):
        assert "<img src=x" not in path.read_text("utf-8")
    if name == "github":
        assert all(line.startswith("::") for line in done.stdout.splitlines())
        assert "\n::warning::x.py" not in done.stdout


def test_a_diff_is_of_the_files_that_it_names(folder: Path, tmp_path: Path) -> None:
    done = subprocess.run(samedevice("fix", "--diff", "."), cwd=folder, capture_output=True,
                          env=environment(tmp_path / "home"))  # fmt: skip
    applied = subprocess.run(["git", "apply", "-p1", "-"], cwd=folder, input=done.stdout,
                             capture_output=True)  # fmt: skip
    assert applied.returncode == 0, applied.stderr
    assert all((folder / name).read_text() != CODE for name in NAMES)


def test_a_name_with_backslashes_is_no_path(tmp_path: Path) -> None:
    for name in ("evil.py", "project/..\\evil.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(CODE)
    done = run(samedevice("fix", "--yes", "project"), tmp_path, environment(tmp_path / "home"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "evil.py").read_text() == CODE
    assert (tmp_path / "project" / "..\\evil.py").read_text() != CODE


def test_a_batch_of_such_names(tmp_path: Path) -> None:
    for name in NAMES[:7]:
        checkout = tmp_path / "all" / name.removesuffix(".py")
        checkout.mkdir(parents=True)
        (checkout / name).write_text(CODE)
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-qm", "a"]):
            subprocess.run(["git", *words], cwd=checkout, check=True)
    env = environment(tmp_path / "home")
    for words in (["run", "all"], ["status"], ["report"], ["records"]):
        done = run(samedevice("batch", *words), tmp_path, env)
        assert done.returncode == 0, done.stderr
        assert _STEERING.findall(done.stdout + done.stderr) == [], words
    for path in (tmp_path / "samedevice-batch").glob("report.*"):
        text = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
        assert _STEERING.findall(text) == [], path.name
