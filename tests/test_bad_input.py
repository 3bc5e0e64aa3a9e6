"""Bad input, with the real rules: one clear message with its path, every other file still done."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from samedevice.cli import app

GOOD = """\
import torch
from torch import nn

model = nn.Linear(2, 2)
print(model(torch.ones(3, 2)))
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def samedevice(*args: str) -> Result:
    result = CliRunner().invoke(app, args)
    if not isinstance(result.exception, SystemExit | None):
        raise result.exception
    return result


def write(**files: str) -> None:
    for name, text in files.items():
        Path(f"{name}.py").write_text(text)


DEEP = "x = " + "(" * 10_000 + ")" * 10_000 + "\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"def f(:\n", "bad.py:1:7: invalid syntax"),
        (b"print 'python 2'\n", "bad.py:1:1: Missing parentheses"),
        (b"import os\nimport sys\nx = '\xff'\n", "bad.py:3: not utf-8 text"),
        (b"# coding: nonsense\n", "bad.py: unknown encoding"),
        (b"x = '\0'\n", "bad.py: this is a binary file"),
        (DEEP.encode(), "bad.py"),
        (b"x = " + b"-" * 10_000 + b"1\n", "bad.py"),
        (b"x = " + b"[" * 150 + b"]" * 150 + b"\n", "bad.py"),
        (b"x = " + b"f(" * 10_000 + b")" * 10_000, "bad.py"),
        (b"x" + b".a" * 10_000 + b"\n", "bad.py"),
        (b"x = 1" + b" + 1" * 10_000 + b"\n", "bad.py"),
    ],
    ids=[
        "syntax",
        "python2",
        "utf8",
        "codec",
        "binary",
        "parentheses",
        "minus",
        "lists",
        "calls",
        "attributes",
        "sum",
    ],
)
def test_a_file_that_cannot_be_worked_on(data: bytes, message: str) -> None:
    write(a=GOOD)
    Path("bad.py").write_bytes(data)
    checked = samedevice("check")
    fixed = samedevice("fix", "--yes")
    assert ".to(device)" in Path("a.py").read_text()
    assert Path("bad.py").read_bytes() == data
    for result in (checked, fixed):
        errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
        if result.exit_code != 2:
            assert not errors  # nested, but not too deeply for this Python
            continue
        assert len(errors) == 1
        assert errors[0].startswith(f"error: {message}")


def test_what_is_named_is_parsed_whatever_it_is_about() -> None:
    write(a="def f(:\n")
    assert samedevice("check").exit_code == 0  # among many others it is no concern of this tool
    result = samedevice("check", "a.py")
    assert result.exit_code == 2
    assert "error: a.py:1:7: " in result.stderr


def test_a_missing_path() -> None:
    write(a=GOOD)
    result = samedevice("fix", "--yes", "nowhere.py", "a.py")
    assert result.exit_code == 2
    assert "error: nowhere.py: cannot be read: No such file" in result.stderr
    assert ".to(device)" in Path("a.py").read_text()


def test_a_link_that_leads_to_itself() -> None:
    write(a=GOOD)
    Path("loop.py").symlink_to("loop.py")
    Path("up").symlink_to("..")
    result = samedevice("fix", "--yes")
    assert result.exit_code == 2
    assert [line for line in result.stderr.splitlines() if line.startswith("error")] == [
        "error: loop.py: this link leads back to itself",
        "error: up: this link leads back to itself",
    ]
    assert ".to(device)" in Path("a.py").read_text()


def test_imports_in_a_circle_are_no_trouble() -> None:
    write(a="import b\n" + GOOD, b="import a\n" + GOOD, c="import c\n")
    assert samedevice("fix", "--yes").exit_code == 0
    assert ".to(device)" in Path("b.py").read_text()
