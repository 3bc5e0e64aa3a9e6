import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from samedevice.cli import app

SAMEDEVICE = [sys.executable, "-c", "from samedevice.cli import main; main()"]
ZEROS = "import torch\n\nx = torch.zeros(3)\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, toys: None) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)


def samedevice(*args: str, input: str | bytes | None = None) -> Result:
    result = CliRunner().invoke(app, args, input=input)
    if not isinstance(result.exception, SystemExit | None):
        raise result.exception
    return result


def write(**files: str) -> None:
    for name, text in files.items():
        Path(f"{name}.py").write_text(text)


# check


def test_check_shows_the_place_the_code_why_and_where_it_comes_from() -> None:
    write(a=ZEROS)
    result = samedevice("check")
    assert result.exit_code == 1
    assert result.stdout == (
        "a.py:3:5 warning [zeros] this tensor is created on the CPU\n"
        "   3 | x = torch.zeros(3)\n"
        "     |     ^^^^^^^^^^^^^^\n"
        "     = a.py:1: the file starts\n"
        "   1 | import torch\n"
        "     | -\n"
        "     = fix: passes `device=device` to `torch.zeros(...)`; "
        "defines `device` in one place\n"
        "     = more: samedevice rules zeros\n"
        "\n"
    )
    assert result.stderr == "1 finding in 1 file; `samedevice fix` has a repair for 1\n"


def test_a_site_of_the_documentation_is_linked() -> None:
    write(a=ZEROS)
    Path("pyproject.toml").write_text("[tool.samedevice]\ndocs-url = 'https://docs.example.com/'\n")
    page = "https://docs.example.com/reference/rules/zeros/"
    assert f"     = more: {page}\n" in samedevice("check").stdout
    (run,) = json.loads(samedevice("check", "--format", "sarif").stdout)["runs"]
    assert run["tool"]["driver"]["rules"][0]["helpUri"] == page
    Path("pyproject.toml").unlink()
    (run,) = json.loads(samedevice("check", "--format", "sarif").stdout)["runs"]
    assert "helpUri" not in run["tool"]["driver"]["rules"][0]


def test_check_tells_what_fix_could_do() -> None:
    write(a=ZEROS + "torch.empty(3)\nmystery()\n")
    assert samedevice("check").stderr == (
        "3 findings in 1 file; `samedevice fix` has a repair for 1; "
        "`samedevice fix --unsafe` has one for 2\n"
    )


def test_check_of_clean_code() -> None:
    write(a="x = 1\n", b="import torch\nremark()\n")
    result = samedevice("check")
    assert result.exit_code == 0
    assert "note [remark]" in result.stdout
    assert result.stderr == "nothing wrong in 2 files (1 note)\n"


def test_check_of_one_file_says_that_what_it_imports_has_findings() -> None:
    write(a="from b import x\n\ny = x\n", b=ZEROS + "mystery()\n", c="from a import y\n" + ZEROS)
    result = samedevice("check", "a.py")
    assert result.exit_code == 0
    assert result.stderr == (
        "no findings in 1 file\nb.py, imported here, has 2 findings: name it, too, or the folder\n"
    )
    shown = samedevice("check", "a.py", "b.py")
    assert "imported here" not in shown.stderr


def test_check_writes_nothing() -> None:
    write(a=ZEROS)
    samedevice("check")
    assert Path("a.py").read_text() == ZEROS


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_check_in_json(form: str) -> None:
    write(a=ZEROS, b="def f(:\n")
    result = samedevice("check", "--format", form)
    assert result.exit_code == 2
    assert result.stderr == ""
    json.loads(result.stdout)


def test_check_for_github() -> None:
    write(a=ZEROS)
    result = samedevice("check", "--format", "github")
    assert result.exit_code == 1
    assert result.stdout.startswith("::warning file=a.py,line=3,")


def test_check_reports_to_files_beside_its_output() -> None:
    write(a=ZEROS)
    result = samedevice("check", "--report", "json=a.json", "--report", "sarif=a.sarif")
    assert result.exit_code == 1
    assert result.stdout.startswith("a.py:3:5 warning [zeros]")
    assert len(json.loads(Path("a.json").read_text())["findings"]) == 1
    assert Path("a.sarif").read_text() == samedevice("check", "--format", "sarif").stdout
    for wrong in ("a.json", "text=a.txt", "xml=a.xml", "json="):
        assert "expected FORMAT=FILE" in samedevice("check", "--report", wrong).stderr
    assert "there is no folder no" in samedevice("check", "--report", "json=no/a.json").stderr


def test_standard_input() -> None:
    result = samedevice("check", "-", input=ZEROS)
    assert result.exit_code == 1
    assert result.stdout.startswith("-:3:5 warning [zeros]")


def test_select_and_ignore() -> None:
    write(a=ZEROS + "mystery()\n")
    assert "[zeros]" not in samedevice("check", "--select", "mystery").stdout
    assert samedevice("check", "--ignore", "zeros,mystery").exit_code == 0
    result = samedevice("check", "--select", "zero")
    assert result.exit_code == 2
    assert result.stderr == "error: --select: there is no rule zero; did you mean zeros?\n"


def test_settings_of_the_project() -> None:
    Path("pyproject.toml").write_text("[tool.samedevice]\nignore = ['zeros']\nexclude = ['b.py']\n")
    write(a=ZEROS, b="mystery()\n")
    assert samedevice("check").exit_code == 0
    Path("pyproject.toml").write_text("[tool.samedevice]\nignored = []\n")
    result = samedevice("check")
    assert result.exit_code == 2
    assert "pyproject.toml: [tool.samedevice] ignored: no such setting" in result.stderr


def test_exclude() -> None:
    write(a=ZEROS, b="x = 1\n")
    assert samedevice("check", "--exclude", "a.*").exit_code == 0


def test_help_has_headings_and_no_types() -> None:
    import typer

    def helps(words: list[str], command: object) -> None:
        said = samedevice(*words, "-h").stdout
        assert said == samedevice(*words, "--help").stdout
        assert not re.search(r"<[a-z]|list\[|\bTEXT\b|INTEGER|FLOAT|x>=|\[default", said), said
        for name, inner in getattr(command, "commands", {}).items():
            helps([*words, name], inner)

    helps([], typer.main.get_command(app))
    assert "\nBaseline:\n" in samedevice("check", "-h").stdout
    assert "\nFind and repair:\n" in samedevice("-h").stdout


def test_every_command_has_a_heading() -> None:
    import typer

    from samedevice.cli.help import COMMANDS

    group = typer.main.get_command(app)
    named = [name for names in COMMANDS.values() for name in names]
    assert sorted(named) == sorted(group.commands)  # type: ignore[attr-defined]


def test_quiet_and_verbose() -> None:
    write(a=ZEROS)
    quiet = samedevice("check", "-q")
    assert (quiet.exit_code, quiet.stderr) == (1, "")
    assert quiet.stdout == samedevice("check").stdout
    told = samedevice("check", "-v").stderr
    assert re.search(r"^settings: none\nread 1 file in .* s\nchecked with 6 rules in ", told)
    assert samedevice("fix", "--yes", "-q").stderr == ""


def test_exit_zero() -> None:
    write(a=ZEROS)
    assert samedevice("check", "--exit-zero").exit_code == 0
    write(b="import torch\nx = (\n")
    assert samedevice("check", "--exit-zero").exit_code == 2


def test_statistics() -> None:
    write(a=ZEROS + "y = torch.zeros(4)\nmystery()\n")
    lines = samedevice("check", "--statistics").stdout.splitlines()
    assert [line.split()[:3] for line in lines[1:]] == [["2", "2", "zeros"], ["1", "0", "mystery"]]
    assert samedevice("check", "--statistics", "--format", "json").exit_code == 2


def test_concise() -> None:
    write(a=ZEROS)
    shown = samedevice("check", "--format", "concise")
    assert shown.stdout == "a.py:3:5: zeros this tensor is created on the CPU\n"


def test_a_page_of_findings() -> None:
    write(a=ZEROS + "s = '<b>'; mystery()\n")
    page = samedevice("check", "--format", "html").stdout
    assert "<mark>torch.zeros(3)</mark>" in page
    assert "&lt;b&gt;" in page and "<b>'" not in page
    assert "<code>samedevice fix</code> has a repair for 1" in page


def test_settings_from_elsewhere() -> None:
    write(a=ZEROS)
    Path("pyproject.toml").write_text("[tool.samedevice]\nignore = ['zeros']\n")
    Path("ci.toml").write_text("ignore = ['empty']\n")
    assert samedevice("check").exit_code == 0
    assert samedevice("check", "--isolated").exit_code == 1
    assert samedevice("check", "--config", "ci.toml").exit_code == 1
    assert samedevice("check", "--extend-select", "zeros").exit_code == 1
    assert samedevice("check", "--config", "no.toml").exit_code == 2
    assert samedevice("check", "--config", "ci.toml", "--isolated").exit_code == 2


def test_rules_that_are_off_in_some_files() -> None:
    write(a=ZEROS)
    Path("pyproject.toml").write_text('[tool.samedevice.per-file-ignores]\n"a.*" = ["zeros"]\n')
    assert samedevice("check").exit_code == 0
    assert samedevice("check", "-", input=ZEROS).exit_code == 1
    named = samedevice("check", "-", "--stdin-filename", "a.py", input=ZEROS)
    assert named.exit_code == 0
    assert samedevice("fix", "-", "--stdin-filename", "a.py", input=ZEROS).stdout == ZEROS


def test_the_name_of_standard_input() -> None:
    shown = samedevice("check", "-", "--stdin-filename", "lib/b.py", input=ZEROS)
    assert shown.stdout.startswith("lib/b.py:3:5 warning")
    assert samedevice("check", ".", "--stdin-filename", "b.py").exit_code == 2
    notebook = {"cells": [{"cell_type": "code", "source": ZEROS, "metadata": {}, "outputs": []}]}
    shown = samedevice("check", "-", "--stdin-filename", "n.ipynb", input=json.dumps(notebook))
    assert shown.stdout.startswith("n.ipynb:cell 1:3:5 warning")
    assert "\n   3 | x = torch.zeros(3)\n" in shown.stdout


def test_notebooks_that_ran_out_of_order_are_told() -> None:
    def write_notebook(name: str, *cells: tuple[str, int]) -> None:
        code = [
            {"cell_type": "code", "execution_count": count, "source": text} for text, count in cells
        ]
        Path(name).write_text(json.dumps({"cells": code, "nbformat": 4}))

    write_notebook("a.ipynb", ("x = 1", 2), ("y = 2", 1))
    write_notebook("b.ipynb", ("x = 1", 2), ("y = 2", 1))
    write_notebook("c.ipynb", ("y = x", 2), ("x = 1", 1))
    write_notebook("d.ipynb", ("x = 1", 1), ("y = 2", 2))
    told = samedevice("check").stderr.splitlines()
    assert told[0].startswith("note: c.ipynb: cell 1 was last run after cell 2, and the cells only")
    assert told[1].startswith(
        "note: a.ipynb: cell 1 was last run after cell 2; the cells are taken"
    )
    assert told[2] == "note: the cells of 1 more notebook ran out of order, too"
    assert len(told) == 4
    assert not samedevice("check", "-q").stderr


def test_fix_leaves_what_a_baseline_lists() -> None:
    write(a=ZEROS)
    samedevice("check", "--baseline", "old.txt", "--write-baseline")
    write(a=ZEROS + "y = torch.zeros(4)\n")
    done = samedevice("fix", "--yes", "--baseline", "old.txt")
    assert done.stderr.startswith("1 older finding in the baseline\n1 file changed")
    assert "left" not in done.stderr and done.exit_code == 0  # that one was to be left
    text = Path("a.py").read_text()
    assert "x = torch.zeros(3)\n" in text and "torch.zeros(4, device=device)" in text


# fix


def test_fix_shows_the_diff_asks_and_writes() -> None:
    write(a=ZEROS)
    result = samedevice("fix", input="y\n")
    assert result.exit_code == 0
    assert "\n-x = torch.zeros(3)\n" in result.stdout
    assert "\n+x = torch.zeros(3, device=device)\n" in result.stdout
    assert "1 file would change (1 zeros)" in result.stderr
    assert result.stderr.endswith("1 file changed\n")
    assert "device=device" in Path("a.py").read_text()


@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
def test_fix_writes_nothing_without_a_yes(answer: str) -> None:
    write(a=ZEROS)
    result = samedevice("fix", input=answer)
    assert result.exit_code == 1
    assert "nothing was written" in result.stderr
    assert Path("a.py").read_text() == ZEROS


def test_fix_yes_tells_what_is_left_and_why() -> None:
    write(a=ZEROS + "y = torch.empty(3)\nmystery()\n")
    result = samedevice("fix", "--yes")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "1 file changed (1 zeros)\n2 findings left as found:\n" in result.stderr
    assert "[empty] fixed with --unsafe only: the numbers are others\n" in result.stderr
    assert "[mystery] not fixed: it is not known\n" in result.stderr


def test_fix_unsafe() -> None:
    write(a="import torch\nx = torch.empty(3)\n")
    assert samedevice("fix", "--yes", "--unsafe").exit_code == 0
    assert "device='cpu'" in Path("a.py").read_text()


def test_the_safety_of_a_rule_as_a_flag() -> None:
    write(a="import torch\nx = torch.empty(3)\ny = torch.zeros(3)\n")
    samedevice("fix", "--yes", "--safe", "empty", "--unsafe-rule", "zeros")
    text = Path("a.py").read_text()
    assert "torch.empty(3, device='cpu')" in text
    assert "torch.zeros(3)" in text


def test_fix_diff_shows_a_notebook_by_its_cells_and_patch_is_for_git() -> None:
    cells = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": [t]}
        for t in ("import torch\n", "x = torch.zeros(1)\nprint(\"x\")")
    ]  # fmt: skip
    notebook = {"cells": cells, "metadata": {"b": 1, "a": 2}, "nbformat": 4, "nbformat_minor": 5}
    Path("n.ipynb").write_text(json.dumps(notebook, indent=1))
    shown, patch = samedevice("fix", "--diff", "n.ipynb"), samedevice("fix", "--patch", "n.ipynb")
    assert (shown.exit_code, patch.exit_code) == (1, 1), shown.output
    assert shown.stdout.splitlines()[-6:] == [
        "--- a/n.ipynb:cell 2",
        "+++ b/n.ipynb:cell 2",
        "@@ -1,2 +1,2 @@",
        "-x = torch.zeros(1)",
        "+x = torch.zeros(1, device=device)",
        ' print("x")',
    ]
    assert shown.stdout.startswith("--- a/n.ipynb:cell 1\n")
    subprocess.run(["git", "apply"], input=patch.stdout.encode(), check=True)
    by_git = Path("n.ipynb").read_bytes()
    Path("n.ipynb").write_text(json.dumps(notebook, indent=1))
    assert samedevice("fix", "--yes", "n.ipynb").exit_code == 0
    assert Path("n.ipynb").read_bytes() == by_git
    assert samedevice("fix", "--yes", "--patch").exit_code == 2


def test_fix_diff_is_a_patch_and_the_same_as_what_is_written() -> None:
    text = "# coding: latin-1\nimport torch\r\n\r\nname = 'é'\r\nx = torch.zeros(3)\r\ny = 1"
    Path("a.py").write_bytes(text.encode("latin-1"))
    result = samedevice("fix", "--diff")
    assert result.exit_code == 1
    assert Path("a.py").read_bytes() == text.encode("latin-1")
    subprocess.run(["git", "apply", "-"], input=result.stdout_bytes, check=True)
    patched = Path("a.py").read_bytes()
    Path("a.py").write_bytes(text.encode("latin-1"))
    samedevice("fix", "--yes")
    assert Path("a.py").read_bytes() == patched
    assert samedevice("fix", "--diff").exit_code == 0


def test_fix_of_standard_input_goes_to_standard_output() -> None:
    result = samedevice("fix", "-", input=ZEROS)
    assert result.exit_code == 0
    assert result.stdout.endswith("\nx = torch.zeros(3, device=device)\n")
    result = samedevice("fix", "-", "--diff", input=ZEROS)
    assert result.exit_code == 1
    assert result.stdout.startswith("--- a/-\n+++ b/-\n")
    assert samedevice("fix", "-", "--interactive", input=ZEROS).exit_code == 2


def test_flags_that_exclude_each_other() -> None:
    assert samedevice("fix", "--yes", "--diff").exit_code == 2


def test_a_new_resolver_in_the_style_that_is_asked_for() -> None:
    write(a=ZEROS)
    samedevice("fix", "--yes", "--resolver", "accelerator")
    assert "torch.accelerator" in Path("a.py").read_text()
    assert samedevice("fix", "--resolver", "gpu").exit_code == 2


# interactive

TWO = "import torch\nx = torch.zeros(3)\n" + "pass\n" * 20 + "y = torch.zeros(4)\n"


@pytest.mark.parametrize(
    ("answers", "first", "second"),
    [
        ("y\nn\n", True, False),
        ("n\ny\n", False, True),
        ("a\n", True, True),
        ("q\n", False, False),
        ("y\nq\n", True, False),
        ("y\n", True, False),  # the end of the input leaves the rest
        ("?\nyes\ny\ny\n", True, True),
    ],
)
def test_interactive(answers: str, first: bool, second: bool) -> None:
    write(a=TWO)
    samedevice("fix", "--interactive", input=answers)
    text = Path("a.py").read_text()
    assert ("torch.zeros(3, device=device)" in text) is first
    assert ("torch.zeros(4, device=device)" in text) is second
    assert ("is_available" in text) is (first or second)
    compile(text, "a.py", "exec")


def test_interactive_split() -> None:
    write(a="import torch\nx = torch.zeros(3), torch.empty(3)\n")
    result = samedevice("fix", "--unsafe", "--interactive", input="s\nn\ny\n")
    assert "(1/1) Repair this [y,n,a,s,q,?]?" in result.stdout
    assert "(2/2) Repair this [y,n,a,q,?]?" in result.stdout
    text = Path("a.py").read_text()
    assert text.endswith("x = torch.zeros(3), torch.empty(3, device='cpu')\n")


def test_interactive_no_to_one_file_is_no_to_the_fix_in_all_of_them() -> None:
    text = "import torch\nx = torch.full((2,), 1)\n"
    write(a=text, b=text)
    result = samedevice("fix", "--interactive", input="n\n")
    assert result.stdout.count("Repair this") == 1
    assert result.stdout.count("+x = torch.full((2,), 1, device='cpu')") == 2  # in both files
    assert Path("a.py").read_text() == Path("b.py").read_text() == text


# report


@pytest.mark.parametrize("suffix", ["json", "md", "html"])
def test_report(suffix: str) -> None:
    write(a=ZEROS + "mystery()\n")
    samedevice("fix", "--diff", "--report", f"changes.{suffix}")
    text = Path(f"changes.{suffix}").read_text()
    assert "x = torch.zeros(3, device=device)" in text
    assert "it is not known" in text


def test_report_of_an_unknown_form_is_refused_before_any_work() -> None:
    write(a=ZEROS)
    result = samedevice("fix", "--yes", "--report", "changes.txt")
    assert result.exit_code == 2
    assert Path("a.py").read_text() == ZEROS


def test_report_that_cannot_be_written() -> None:
    result = samedevice("fix", "--yes", "--report", "nowhere/changes.json")
    assert result.exit_code == 2
    assert "nowhere/changes.json: there is no folder nowhere" in result.stderr


# rules


def test_rules() -> None:
    listed = samedevice("rules")
    assert listed.exit_code == 0
    assert "empty     An unsafe fix." in listed.stdout
    explained = samedevice("rules", "zeros")
    assert "torch.zeros()" in explained.stdout
    unknown = samedevice("rules", "zerso")
    assert unknown.exit_code == 2
    assert "did you mean zeros?" in unknown.stderr


def test_a_fault_of_our_own_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from samedevice import inference

    write(a=ZEROS)
    monkeypatch.setattr(inference, "infer", lambda *_: 1 / 0)
    result = samedevice("check")
    assert result.exit_code == 2
    assert "this is a fault in samedevice" in result.stderr


# run and prove


@pytest.mark.torch
def test_run_gives_the_program_its_own_options() -> None:
    pytest.importorskip("torch")
    write(main="import sys, torch\nprint(sys.argv[1:], torch.ones(1).device)\nsys.exit(7)\n")
    done = subprocess.run(
        [*SAMEDEVICE, "run", "--on", "cpu", "--no-record", "main.py", "--on", "moon"],
        capture_output=True,
        text=True,
    )
    assert done.stdout == "['--on', 'moon'] cpu\n"
    assert done.returncode == 7


@pytest.mark.torch
def test_prove_compares_two_folders() -> None:
    pytest.importorskip("torch")
    for folder, number in (("before", 1), ("after", 2)):
        Path(folder).mkdir()
        Path(folder, "main.py").write_text(f"import torch\nprint(torch.ones({number}).sum())\n")
    command = [*SAMEDEVICE, "prove", "--on", "cpu", "before", "after", "--entry", "main.py"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "tensor(2.)" in done.stdout


def test_a_setting_that_run_does_not_know() -> None:
    result = samedevice("run", "--on", "moon", "main.py")
    assert result.exit_code == 2
    assert "--on moon: expected virtual, cpu, cuda or auto" in result.stderr


# the terminal


def test_names_that_cannot_be_printed_are_made_visible() -> None:
    Path("a\x1b[31m.py").write_text(ZEROS)
    result = samedevice("check")
    assert "a\\x1b[31m.py:3:5" in result.stdout


def test_version_and_help() -> None:
    assert samedevice("--version").stdout.startswith("samedevice 0.")
    assert "Exit codes: 0 clean, 1 findings (or a diff), 2 an error." in samedevice("--help").stdout
    for command in ("check", "fix", "rules", "run", "prove"):
        assert samedevice(command, "--help").exit_code == 0


def test_completion_knows_the_rules() -> None:
    environment = {
        **os.environ,
        "_SAMEDEVICE_COMPLETE": "complete_bash",
        "COMP_WORDS": "samedevice check --select tensor-wi",
        "COMP_CWORD": "3",
    }
    done = subprocess.run(SAMEDEVICE, env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["tensor-without-device"]


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from samedevice.cli import app\n"
        "app(['--help'], standalone_mode=False)\n"
        "heavy = {'libcst', 'torch', 'rich', 'samedevice.inference'} & {*sys.modules}\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_a_reader_that_goes_away_is_no_trouble() -> None:
    command = f"{shlex.join(SAMEDEVICE)} rules | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_a_long_run_shows_on_a_terminal_how_far_it_is() -> None:
    import pty

    for number in range(250):
        Path(f"f{number}.py").write_text("x = 1\n")
    shown = {}
    for name, command in (("many", ["check"]), ("few", ["check", "f1.py"])):
        ours, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
        subprocess.run([*SAMEDEVICE, *command], stderr=theirs, env=environment, check=True)
        os.close(theirs)
        shown[name] = os.read(ours, 100_000).decode()
        os.close(ours)
    assert "reading" in shown["many"]
    assert "checking" in shown["many"]
    assert shown["many"].endswith("nothing wrong in 250 files\r\n")
    assert shown["few"] == "nothing wrong in 1 file\r\n"
