from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from . import peers
from .peers import Diagnostic
from .peers_on_edits import Bench, Edited, edited, page

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "projects"
PYRIGHT = shutil.which("basedpyright") or shutil.which("pyright") or ""


def rules(project: Edited) -> set[str]:
    return {one.rule for said in project.new.values() for one in said}


def asked(tmp_path: Path, before: str, after: str, pyright: str = "") -> Edited:
    for side, text in (("before", before), ("after", after)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "a.py").write_text(text, newline="")
    project = Edited("p", tmp_path / "before", tmp_path / "after", ["a.py"])
    Bench(tmp_path / "bench", [project]).ask(pyright, sys.executable)
    return project


@pytest.mark.parametrize("name", ["alternating_dataset", "nested_package"])
def test_an_edited_fixture(name: str, tmp_path: Path) -> None:
    project = edited(FIXTURES / name / "before", tmp_path / name, 120)
    assert project.changed and not project.failure
    Bench(tmp_path / "bench", [project]).ask("", sys.executable)
    assert project.hunks
    assert not project.new, page([project])


def test_a_name_that_is_not_there(tmp_path: Path) -> None:
    project = asked(tmp_path, "x = 1\nprint(x)\n", "x = 1\nprint(y)\n")
    assert rules(project) == {"F821"}
    text = page([project])
    assert "| F821 | 1 |" in text and "2: F821: Undefined name `y`\n      print(y)" in text
    assert "print" not in page([project], code=False)


def test_imports_that_were_sorted(tmp_path: Path) -> None:
    project = asked(
        tmp_path,
        "import torch\n\nprint(torch)\n",
        "import torch\nimport os\n\nprint(torch, os)\n",
    )
    assert rules(project) == {"I001"}


def test_what_was_said_before_is_not_new(tmp_path: Path) -> None:
    project = asked(tmp_path, "import os\n\nprint(y)\n", "import os\n\nz = 1\nprint(y)\n")
    assert not project.new


def test_a_line_that_turned() -> None:
    old, new = [Diagnostic(1, "R", "`cuda` of None")], [Diagnostic(1, "R", "`to` of None")]
    assert peers.said_first_after("x.cuda()\ny\n", "x.to(d)\ny\n", old, new) == []
    other = [Diagnostic(2, "R", "`to` of None")]
    assert peers.said_first_after("x.cuda()\ny\n", "x.to(d)\ny\n", old, other) == other
    twice = [*new, *new]
    assert peers.said_first_after("x.cuda()\n", "x.to(d)\n", old, twice) == new


@pytest.mark.parametrize(
    "before, after, limit, rule",
    [
        (b"x = 1\r\n", b"x = 1\r\ny = 2\n", None, "line-ends"),
        (b"x = 1\n", b"x = 1\ny = 2", None, "last-line"),
        (b"\xef\xbb\xbfx = 1\n", b"x = 2\n", None, "byte-order-mark"),
        (b"x = 1\n", b"x = (\n", None, "compile"),
        (b"x = 1\n", b"x = 1 is 2\n", None, "compile"),
        (b"x = 1\n", b"x = 1111\n", 6, "line-too-long"),
    ],
)
def test_layout(before: bytes, after: bytes, limit: int | None, rule: str) -> None:
    assert [one.rule for one in peers.layout(before, after, limit)] == [rule]
    assert not list(peers.layout(after, after, limit))


def test_a_file_that_was_formatted(tmp_path: Path) -> None:
    project = asked(tmp_path, "x = f(1)\n", "x = f( 1 )\n")
    assert "format" in rules(project)


@pytest.mark.parametrize(
    "name, text",
    [
        ("pyproject.toml", "[tool.ruff]\nline-length = 99\n"),
        ("pyproject.toml", "[tool.black]\nline_length = 99\n"),
        ("setup.cfg", "[flake8]\nmax-line-length = 99\n"),
    ],
)
def test_the_width_that_a_project_keeps(name: str, text: str, tmp_path: Path) -> None:
    assert peers.limit_of(tmp_path) is None
    (tmp_path / name).write_text(text)
    assert peers.limit_of(tmp_path) == 99


@pytest.mark.skipif(not PYRIGHT, reason="no pyright or basedpyright is installed")
def test_pyright_sees_what_may_not_be_bound(tmp_path: Path) -> None:
    before = "import sys\n\nif sys.argv:\n    x = 1\n"
    project = asked(tmp_path, before, before + "print(x)\n", PYRIGHT)
    assert any(rule.startswith("reportPossiblyUnbound") for rule in rules(project))
