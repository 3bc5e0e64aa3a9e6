"""What `fix` tells of what it does not do: undecided values, scripts that stay on the CPU."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from samedevice.cli import app

TRAINED = """\
import torch
from torch import nn

model = nn.Linear(3, 2)
loss = model(torch.ones(1, 3)).sum()
loss.backward()
"""
GAP = """\
import importlib
import torch

maker = importlib.import_module("torch".lower())
model = torch.nn.Linear(3, 2).to("cuda")
print(model(maker.ones(1, 3)), model(torch.ones(1, 3)))
"""
BY_HAND = "import torch\n\nx = torch.ones(3, 3)\nfor _ in range(3):\n    x = x - 0.1 * x.mm(x)\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def fix(*args: str, **files: str) -> Result:
    for name, text in files.items():
        Path(f"{name}.py").write_text(text)
    return CliRunner().invoke(app, ["fix", "--no-cache", *args])


def test_undecided_values_are_counted_where_files_change() -> None:
    (line, *_) = fix("--yes", main=GAP).stderr.splitlines()
    assert line.startswith("1 file changed (")
    assert line.endswith("); 1 undecided: main.py:8 (`samedevice check --undecided` lists them)")


def test_a_script_that_stays_is_named_where_another_one_moves() -> None:
    lines = fix("--yes", main=TRAINED, other=BY_HAND).stderr.splitlines()
    assert lines[0].startswith("1 file changed (")
    assert lines[1:] == [
        "other.py stays on the CPU: it calls no module and takes no gradient with autograd"
    ]


LOOKS = """\
import torch

print(torch.nn.Linear(3, 2)(torch.ones(1, 3)))
"""


def test_a_script_that_only_looks_is_converted_when_it_is_asked_for() -> None:
    why = "it looks once at what modules give that have learned nothing"
    lines = fix("--yes", main=TRAINED, other=LOOKS).stderr.splitlines()
    assert lines[1:] == [f"other.py stays on the CPU: {why} (--convert other.py converts it)"]
    assert Path("other.py").read_text() == LOOKS
    assert len(fix("--yes", "--convert", "oth*.py").stderr.splitlines()) == 1
    assert ".to(device)" in Path("other.py").read_text()


def test_a_script_that_only_looks_is_converted_where_it_is_alone() -> None:
    fix("--yes", main=LOOKS)
    assert ".to(device)" in Path("main.py").read_text()


def test_a_setting_asks_for_scripts_as_the_flag_does() -> None:
    Path("pyproject.toml").write_text('[tool.samedevice]\nconvert = ["other.py"]\n')
    fix("--yes", main=TRAINED, other=LOOKS)
    assert ".to(device)" in Path("other.py").read_text()


def test_many_scripts_that_stay_are_told_in_full_when_asked() -> None:
    result = fix("--diff", **{f"script{number:02}": BY_HAND for number in range(22)})
    lines = result.stderr.splitlines()
    assert lines[0] == "nothing to change in 22 files"
    assert len(lines) == 22
    assert lines[-1] == "and so do 2 more scripts; --verbose says why"
    lines = fix("--diff", "--verbose").stderr.splitlines()
    assert sum("stays on the CPU" in line for line in lines) == 22


def test_what_stays_is_told_from_the_cache_as_well() -> None:
    Path("main.py").write_text(BY_HAND)
    runs = [CliRunner().invoke(app, ["fix", "--diff"]).stderr for _ in range(2)]
    assert runs[0] == runs[1]
    assert "main.py stays on the CPU" in runs[1]


@pytest.mark.parametrize("chosen", ["torch.ones(3, 2)", "model(x) if x.sum() > 9 else x[:, :2]"])
def test_what_goes_to_unknown_code_is_not_decided(chosen: str) -> None:
    program = f"""\
import torch
from library import measured

model = torch.nn.Linear(3, 2)
x = torch.ones(3, 3)
target = {chosen}
print(measured(model(x), target))
"""
    result = fix("--yes", main=program)
    assert Path("main.py").read_text() == program
    assert "1 undecided: main.py:7" in result.stderr


WAITING = """\
import importlib
import torch

maker = importlib.import_module("torch".lower())
model = torch.nn.Linear(3, 2)
print(model(maker.ones(1, 3)), model(torch.ones(1, 3)))
"""


@pytest.mark.parametrize("flags", [["--diff"], ["--yes"], ["--interactive"], []], ids=str)
def test_a_conversion_that_waits_is_shown_and_not_written(flags: list[str]) -> None:
    result = fix(*flags, main=WAITING)
    assert result.exit_code == 1
    assert Path("main.py").read_text() == WAITING
    assert result.stdout == ""  # what `git apply` would be given
    told = result.stderr.splitlines()
    assert told[:4] == [
        "incomplete, not written without --unsafe (1 module-not-moved, 1 tensor-without-device); "
        "1 undecided: main.py:6 (`samedevice check --undecided` lists them):",
        "  incomplete: main.py:6 is not decided or has no repair; "
        '`samedevice fix --run "main.py"` finds out by running the program',
        "  main.py:6:13 [undecided] `maker.ones(1, 3)` is used on the device, and nothing is known "
        "of what `importlib.import_module` gives",
        "--- a/main.py.incomplete",
    ]
    assert "+model = torch.nn.Linear(3, 2).to(device)" in told
    assert not any("left as found" in line for line in told)


def test_what_an_incomplete_diff_shows_is_what_unsafe_writes() -> None:
    shown = fix("--diff", main=WAITING).stderr
    shown = shown[shown.index("--- a/") :].replace(".incomplete", "")
    assert fix("--diff", "--unsafe", main=WAITING).stdout == shown
    assert "incomplete" not in fix("--yes", "--unsafe", main=WAITING).stderr


def test_a_program_that_is_complete_is_written_beside_one_that_waits() -> None:
    waiting = WAITING + "for _ in range(2):\n    print(model(torch.ones(1, 3)))\n"
    result = fix("--yes", main=waiting, other=TRAINED)
    assert Path("main.py").read_text() == waiting
    assert ".to(device)" in Path("other.py").read_text()
    assert "--- a/main.py.incomplete" in result.stderr
    assert "other.py.incomplete" not in result.stderr


def test_the_command_runs_the_script_and_not_the_file_of_the_gap() -> None:
    helper = "import importlib\n\nmade = importlib.import_module('torch'.lower()).ones(1, 3)\n"
    main = "import torch\nfrom helper import made\n\nprint(torch.nn.Linear(3, 2)(made))\n"
    assert 'fix --run "main.py"' in fix("--diff", main=main, helper=helper).stderr


@pytest.mark.parametrize("suffix", ["json", "md", "html"])
def test_the_list_of_changes_has_what_is_incomplete(suffix: str) -> None:
    fix("--diff", "--report", f"list.{suffix}", main=WAITING)
    text = Path(f"list.{suffix}").read_text()
    if suffix == "json":
        listed = json.loads(text)
        assert listed["changed"] == []
        assert [one["rule"] for one in listed["incomplete"]] == [
            "", "module-not-moved", "tensor-without-device",
        ]  # fmt: skip
    else:
        assert "Incomplete: not written without --unsafe" in text
        assert "torch.nn.Linear(3, 2).to(device)" in text


@pytest.mark.parametrize("lines", [3, 5])
def test_what_many_lines_of_a_file_share_is_said_once(lines: int) -> None:
    begins = '    dist.init_process_group("nccl")\n'
    text = f"import torch.distributed as dist\n\n\ndef start():\n{begins * lines}"
    told = [line for line in fix("--diff", main=text).stderr.splitlines() if "main.py:" in line]
    if lines == 3:
        assert len(told) == lines
    else:
        (line,) = told
        assert line.endswith(" (and 4 more like it in this file)")
