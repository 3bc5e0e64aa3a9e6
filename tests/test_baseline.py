"""Old findings in a file: what keeps its entry, what does not, and what a user is told."""

import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from samedevice.cli import app
from samedevice.migration import baseline
from samedevice.reading import source

OLD = """\
import torch

x = torch.zeros(3, 'a')
for i in range(3):
    y = torch.zeros(i)  # why
    z = torch.zeros(i)
"""
FILE = "old.txt"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, toys: None) -> None:
    monkeypatch.chdir(tmp_path)


def check(*args: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["check", *args])
    if not isinstance(result.exception, SystemExit | None):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def start(text: str = OLD, name: str = "a.py") -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)
    check("--baseline", FILE, "--write-baseline")


def test_old_findings_pass_and_a_new_one_does_not() -> None:
    start()
    result = check("--baseline", FILE)
    assert result.stdout == ""
    assert result.stderr == "nothing wrong in 1 file\n3 older findings in the baseline\n"
    Path("a.py").write_text(OLD.replace("import torch\n", "import torch\n\nnew = torch.zeros(9)\n"))
    result = check("--baseline", FILE, code=1)
    assert result.stdout.startswith("a.py:3:7 warning [zeros]")
    assert result.stdout.count("[zeros]") == 1
    assert "1 finding in 1 file" in result.stderr


def test_the_file_is_sorted_and_the_same_every_time() -> None:
    Path("b.py").write_text("import torch\nq = torch.zeros(1)\n")
    start()
    text = Path(FILE).read_text()
    assert text.endswith(
        '\na.py\tzeros\tx=torch.zeros(3,"a")\n'
        "a.py\tzeros\ty=torch.zeros(i)\n"
        "a.py\tzeros\tz=torch.zeros(i)\n"
        "b.py\tzeros\tq=torch.zeros(1)\n"
    )
    assert check("--baseline", FILE, "--write-baseline").stderr == (
        f"{FILE}: 4 findings, 0 taken out, 0 new\n"
    )
    check("b.py", "a.py", "--baseline", "other.txt", "--write-baseline")
    assert Path("other.txt").read_text() == text


@pytest.mark.parametrize(
    "after",
    [
        "'''Words.'''\n\n\n" + OLD,
        OLD.replace("'a'", '"a"'),
        OLD.replace("(3, 'a')", "(\n    3,\n    'a',\n)"),
        OLD.replace("  # why", "").replace("    ", "\t").replace("x = ", "x  =  "),
        "def f():\n    " + OLD.replace("\n", "\n    "),
        "\n".join(reversed(OLD.split("\n")[:3])),
    ],
)
def test_layout_does_not_matter(after: str) -> None:
    start()
    Path("a.py").write_text(after)
    check("--baseline", FILE)


@pytest.mark.parametrize(
    "after",
    [
        OLD.replace("(3, 'a')", "(4, 'a')"),
        OLD.replace("y = ", "yy = "),
        OLD + "y = torch.zeros(i)\n",
        OLD + "w = [torch.zeros(i), torch.zeros(i)]\n",
    ],
)
def test_code_does(after: str) -> None:
    start()
    Path("a.py").write_text(after)
    check("--baseline", FILE, code=1)


def test_as_many_equal_findings_as_there_are_entries() -> None:
    start("import torch\nw = [torch.zeros(1), torch.zeros(1)]\n")
    check("--baseline", FILE)
    Path("a.py").write_text("import torch\nw = [torch.zeros(1), torch.zeros(1)]\n" * 2)
    result = check("--baseline", FILE, code=1)
    assert [line[:6] for line in result.stdout.split("\n") if "warning" in line] == ["a.py:4"] * 2


def test_repaired_ones_are_told_and_taken_out() -> None:
    start()
    Path("a.py").write_text(OLD.replace("y = torch.zeros(i)", "y = 1") + "n = torch.zeros(5)\n")
    result = check("--baseline", FILE, code=1)
    assert result.stderr == (
        "1 finding in 1 file; `samedevice fix` has a repair for 1\n"
        "2 older findings in the baseline\n"
        "1 finding of the baseline gone (see --prune-baseline):\n"
        "  a.py [zeros] y=torch.zeros(i)\n"
    )
    result = check("--baseline", FILE, "--prune-baseline")
    assert result.stderr == f"{FILE}: 2 findings, 1 taken out; not in it: 1 new\n"
    assert "gone" not in check("--baseline", FILE, code=1).stderr
    check("--baseline", FILE, "--write-baseline")
    check("--baseline", FILE)


def test_a_part_of_the_project_speaks_for_itself_only() -> None:
    Path("lib").mkdir()
    Path("lib/b.py").write_text("import torch\nb = torch.zeros(1)\nmystery()\n")
    start()
    before = Path(FILE).read_text()
    assert check("lib", "--baseline", FILE).stderr.endswith("2 older findings in the baseline\n")
    check("a.py", "--baseline", FILE, "--prune-baseline")
    check("lib", "--baseline", FILE, "--write-baseline", "--select", "mystery")
    assert Path(FILE).read_text() == before
    Path("lib/b.py").unlink()
    assert check("a.py", "--baseline", FILE, "--prune-baseline").stderr == (
        f"{FILE}: 3 findings, 2 taken out\n"
    )


def test_a_file_that_does_not_parse_keeps_its_entries() -> None:
    start()
    before = Path(FILE).read_text()
    Path("a.py").write_text("import torch\ndef f(:\n")
    assert "a.py" in check("--baseline", FILE, "--write-baseline", code=2).stderr
    assert Path(FILE).read_text() == before


def test_paths_are_seen_from_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    start(name="src/a.py")
    monkeypatch.chdir("src")
    check("--baseline", f"../{FILE}")
    check(str(Path("a.py").absolute()), "--baseline", f"../{FILE}")


def test_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("pyproject.toml").write_text(f"[tool.samedevice]\nbaseline = '{FILE}'\n")
    Path("src").mkdir()
    Path("src/a.py").write_text(OLD)
    check("--write-baseline")
    monkeypatch.chdir("src")
    check()
    assert check("--baseline", "", code=1).stdout.count("[zeros]") == 3
    fixed = CliRunner().invoke(app, ["fix", "--diff"])
    assert fixed.stdout.count("\n-") == 3
    Path("../pyproject.toml").write_text("[tool.samedevice]\nbaseline = 3\n")
    assert "baseline: expected the name of a file" in check(code=2).stderr


@pytest.mark.parametrize("form", ["json", "sarif", "github", "gitlab"])
def test_every_form_leaves_them_out(form: str) -> None:
    start()
    Path("b.py").write_text("import torch\nfresh = torch.zeros(7)\n")
    out = check("--baseline", FILE, "--format", form, code=1).stdout
    assert "b.py" in out
    assert "a.py" not in out


def test_notes_are_never_in_it() -> None:
    start("import torch\nremark()\n")
    assert "zeros" not in Path(FILE).read_text()
    assert "note [remark]" in check("--baseline", FILE).stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "there is no such file; --write-baseline makes it"),
        ("a.py\tzeros\n", "1: expected path, rule and code with tabs between"),
        ("# x\n<<<<<<< HEAD\n", "2: a merge conflict: keep the lines of both sides"),
        (b"\xff", "not a baseline: not UTF-8 text"),
    ],
)
def test_bad_files(text: str | bytes | None, message: str) -> None:
    Path("a.py").write_text(OLD)
    if text is not None:
        Path(FILE).write_bytes(text.encode() if isinstance(text, str) else text)
    result = check("--baseline", FILE, code=2)
    assert result.stderr.startswith(f"error: {FILE}:")
    assert result.stderr.endswith(f"{message}\n")


def test_flags_that_need_something() -> None:
    assert "--baseline FILE" in check("--write-baseline", code=2).stderr
    check("--baseline", FILE, "--prune-baseline", code=2)
    check("--baseline", FILE, "--prune-baseline", "--write-baseline", code=2)
    check("-", "--baseline", FILE, "--write-baseline", code=2)
    Path("a.py").write_text(OLD)
    Path("elsewhere").write_text("")
    Path(FILE).symlink_to("elsewhere")
    assert "symbolic link" in check("--baseline", FILE, "--write-baseline", code=2).stderr


def test_two_branches_merge_without_a_conflict() -> None:
    def git(*args: str) -> str:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        done = subprocess.run(["git", *identity, *args], check=True, capture_output=True, text=True)
        return done.stdout

    lines = [f"v{number} = torch.zeros({number})\n" for number in range(20)]
    git("init", "-q", "-b", "main")
    Path(".gitattributes").write_text(f"{FILE} merge=union\n")
    start("import torch\n" + "".join(lines))
    git("add", ".")
    git("commit", "-qm", "old")
    git("switch", "-qc", "other")
    start("import torch\n" + "".join(lines[:10] + lines[11:]) + "other = torch.zeros(1)\n")
    git("commit", "-qam", "one repaired, one added at the end")
    git("switch", "-q", "main")
    start("import torch\nmine = torch.zeros(1)\n" + "".join(lines))
    git("commit", "-qam", "one added at the top")
    git("merge", "-q", "other", "-m", "both")
    result = check("--baseline", FILE)
    assert result.stderr == "nothing wrong in 1 file\n21 older findings in the baseline\n"


def lines_of(text: str) -> list[tuple[int, str]]:
    return baseline.logical_lines(source.from_text(text))


def test_the_code_of_a_line() -> None:
    text = (
        "if  x :\n"
        "    y = f( 1,\n"
        "        [2,],  # two\n"
        "    )\n"
        "    return   not x\n"
        "s = f'a {x!r} \\'' 'b' '''c\n"
        "d''' r'\\e' '\"'\n"
        "t = '\u2028' ; u = 1\n"
        "z = f'{ a [ 1 ] :>{ w }}' + rf\"{x}{{}}\" f'é {b}'\n"
    )
    assert lines_of(text) == [
        (1, "if x:"),
        (2, "y=f(1,[2])"),
        (5, "return not x"),
        (6, "s=f'a {x!r} \\'' \"b\" '''c\nd''' r'\\e' '\"'"),
        (8, 't="\u2028";u=1'),
        (9, 'z=f"{ a [ 1 ] :>{ w }}"+rf"{x}{{}}" f"é {b}"'),
    ]
    assert lines_of("f(x\n") == []


def test_long_and_odd_lines_stay_lines(tmp_path: Path) -> None:
    numbers = ", ".join(map(str, range(200)))
    odd = f"import torch\na = torch.zeros([{numbers}])\nb = torch.zeros('''\t\n\u2028''')\n"
    start(odd, "#odd.py")
    check("--baseline", FILE)
    assert max(map(len, Path(FILE).read_text().splitlines())) < 200
    Path("#odd.py").write_text(odd.replace("199", "200"))
    check("--baseline", FILE, code=1)
    found = baseline.read(FILE)
    assert sum(found.entries.values()) == 2
    baseline.write(FILE, found.entries + Counter())
    assert baseline.read(FILE).entries == found.entries


def test_a_notebook() -> None:
    def cells(*texts: str) -> str:
        made = [
            {"cell_type": "code", "source": t, "metadata": {}, "outputs": [], "execution_count": 1}
            for t in texts
        ]
        return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})

    start(cells("import torch", "x = torch.zeros(3)"), "n.ipynb")
    Path("n.ipynb").write_text(cells("import torch", "%time 1", "x = torch.zeros( 3 )"))
    check("--baseline", FILE)
