import json
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from samedevice.migration import migrate
from samedevice.migration.migrate import Outcome
from samedevice.reading.config import Config
from samedevice.report import diff
from samedevice.report.changes import ChangeList, Entry, Left, change_list, dump
from samedevice.report.json import ErrorRecord

PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"

pytestmark = pytest.mark.usefixtures("toys")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(text: str, config: Config | None = None) -> Outcome:
    Path("a.py").write_text(text)
    config = config or Config()
    return migrate.migrate(migrate.read(["."], config), config)


TEXT = """\
import torch

a = torch.zeros(1)
b = torch.zeros(2)
c = torch.empty(3)
mystery()
"""


def test_every_change_has_its_own_lines_and_its_reason() -> None:
    changes = change_list(run(TEXT))
    head, first, second = changes.changed
    assert head.rule == ""
    assert head.before == ""
    assert "is_available" in head.after
    assert first == Entry(
        "a.py",
        None,
        3,
        "zeros",
        "a = torch.zeros(1)",
        "a = torch.zeros(1, device=device)",
        "this tensor is created on the CPU; a.py:1: the file starts",
    )
    assert (second.line, second.after) == (4, "b = torch.zeros(2, device=device)")


def test_what_was_left_has_the_line_of_the_file_as_it_was() -> None:
    empty, mystery = change_list(run(TEXT)).left
    assert empty == Left(
        "a.py",
        None,
        5,
        "empty",
        "c = torch.empty(3)",
        "this tensor is anywhere",
        "fixed with --unsafe only: the numbers are others",
    )
    assert (mystery.line, mystery.reason) == (6, "not fixed: it is not known")


def test_a_refused_fix_is_left_with_the_reason() -> None:
    (left,) = change_list(run("import torch\nx = torch.full((2,), 13)\n")).left
    assert "more than device handling" in left.reason


def test_errors_are_listed() -> None:
    Path("b.py").write_text("def f(:\n")
    (error,) = change_list(run(TEXT)).errors
    assert error == ErrorRecord(
        "b.py", None, 1, 7, f"invalid syntax (samedevice runs on Python {PYTHON})"
    )


def test_json() -> None:
    document = json.loads(dump(change_list(run(TEXT)), "x.json"))
    assert document["version"] == 1
    assert [entry["line"] for entry in document["changed"]][1:] == [3, 4]
    assert [entry["rule"] for entry in document["left"]] == ["empty", "mystery"]
    assert document["errors"] == []


NASTY = ChangeList(
    True,
    (Entry("a_b_.py", None, 1, "one", "x = '<b>' # ```", "x = '<i>'", "`x` is <wrong> *here*"),),
    (Left("a.py", None, 2, "two", "y = `z` | w", "what", "why"),),
    (ErrorRecord("c.py", None, 1, 1, "<no>"),),
)


def test_markdown_keeps_code_apart_from_markup() -> None:
    text = dump(NASTY, "x.md")
    assert "\n## a\\_b\\_.py\n" in text
    assert "\n````diff\n-x = '<b>' # ```\n+x = '<i>'\n````\n" in text
    assert "`x` is \\<wrong\\> \\*here\\*" in text
    assert "`` y = `z` | w ``" in text
    assert "c.py:1: \\<no\\>" in text


class _Balance(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in ("meta", "br", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_is_well_formed_and_shows_code_as_it_is() -> None:
    page = _Balance()
    page.feed(dump(NASTY, "x.html"))
    assert page.open == []
    assert "x = '<b>' # ```" in page.text
    assert "<wrong>" in page.text
    assert "<no>" in page.text
    assert "x is <wrong>" in page.text  # code has a look of its own and no backticks


def test_what_was_only_shown_says_so() -> None:
    outcome = run(TEXT)
    for name in ("x.md", "x.html"):
        shown = dump(change_list(outcome, written=False), name)
        assert "Changes that samedevice would make" in shown
        assert "3 changes in 1 file would be made; 2 findings left as found." in shown
        assert "3 changes in 1 file were made" in dump(change_list(outcome), name)
    assert not json.loads(dump(change_list(outcome, written=False), "x.json"))["written"]


def test_several_files_have_an_index() -> None:
    Path("b.py").write_text("import torch\nx = torch.zeros(1)\n")
    changes = change_list(run(TEXT))
    assert "| a.py | 3 | 2 |\n| b.py | 2 | 0 |" in dump(changes, "x.md")
    page = dump(changes, "x.html")
    assert '<a href="#f1">b.py</a>' in page and '<h2 id="f1">b.py</h2>' in page


def test_lines_of_a_notebook_are_counted_in_their_cell() -> None:
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None,
         "source": text}
        for text in ("import torch\n", "1\nx = torch.zeros(1)\nmystery()\n")
    ]  # fmt: skip
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    Path("n.ipynb").write_text(json.dumps(notebook))
    changes = change_list(run("x = 1\n"))
    (changed,) = [entry for entry in changes.changed if entry.rule]
    (resolver,) = [entry for entry in changes.changed if not entry.rule]
    assert (resolver.cell, resolver.line) == (1, 3), "below the last line of the first cell"
    assert (changed.cell, changed.line) == (2, 2)
    assert changed.after == "x = torch.zeros(1, device=device)"
    (left,) = changes.left
    assert (left.cell, left.line) == (2, 3)
    assert "**Cell 2, line 2** (zeros)" in dump(changes, "x.md")


def test_reports_of_nothing() -> None:
    nothing = ChangeList(True, (), (), ())
    assert "Nothing was changed." in dump(nothing, "x.md")
    assert "Nothing was changed." in dump(nothing, "x.html")


def test_a_diff_is_what_git_makes_of_the_two_files(tmp_path: Path) -> None:
    (change,) = run(TEXT + "last = torch.zeros(1)").changes
    lines = diff.unified(change).decode().split("\n")
    assert lines[:2] == ["--- a/a.py", "+++ b/a.py"]
    assert lines[-2] == "\\ No newline at end of file"


def test_lines_that_are_there_often_are_not_taken_out_and_put_in_again() -> None:
    """From 200 lines on they would be junk to difflib: each would stand there twice, the same."""
    lines = [f"x{number} = 1\n" if number % 3 else "pass\n" for number in range(250)]
    edited = list(lines)
    edited[119], edited[121] = "y = 1\n", "z = 1\n"  # on both sides of a line that is everywhere
    change = migrate.Change("a.py", "".join(lines).encode(), "".join(edited).encode())
    shown = [each for each in diff.unified(change).decode().split("\n")[3:] if each[:1] in "+-"]
    assert [each for each in shown if each] == ["-x119 = 1", "+y = 1", "-x121 = 1", "+z = 1"]


def test_a_new_file_s_diff() -> None:
    change = migrate.Change("new.py", None, b"x = 1\n")
    assert diff.unified(change) == b"--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x = 1\n"
