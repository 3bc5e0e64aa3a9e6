"""How many values have a known place: what `check` says in its last line, and reports carry."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from samedevice.cli import app
from samedevice.migration import check as check_
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project

CHOSEN = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
"""
GAP = f"""{CHOSEN}from library import strange

model = nn.Linear(3, 2).to(device)
print(model(strange(1)), model(torch.ones(1, 3, device=device)))
"""


def counted(**files: str) -> dict[str, int]:
    placed: dict[str, int] = {}
    project = Project(source.from_text(text, f"{name}.py") for name, text in files.items())
    check_.check(project, Config(), placed=placed)
    return placed


@pytest.mark.parametrize(
    "line, number",
    [
        ("x = torch.ones(3)", 1),
        ("x = torch.ones(3).to(device)", 2),
        ("x = torch.ones(3, device=device)", 1),
        ("x = nn.Linear(3, 3).to(device)", 2),
        ("x = torch.load('x.pt', map_location=device)", 1),
        ("x = torch.load('x.pt')", 0),
        ("x = [torch.ones(3) for _ in range(9)]", 1),
        ("x = 3", 0),
    ],
)
def test_an_expression_counts_that_brings_a_value_to_a_known_place(line: str, number: int) -> None:
    assert counted(main=f"{CHOSEN}{line}\n").get("main.py", 0) == number


def test_a_function_counts_once_however_often_it_is_called() -> None:
    text = f"{CHOSEN}def made(n):\n    return torch.ones(n)\n"
    assert counted(main=text) == {"main.py": 1}
    assert counted(main=f"{text}made(1) + made(2)\nfor i in range(9):\n    made(i)\n") == {
        "main.py": 1
    }


def test_a_move_to_where_nobody_knows_does_not_count() -> None:
    text = "import torch\nimport library\n\nx = torch.ones(3)\nx = x.to(library.choose())\n"
    assert counted(main=text) == {"main.py": 1}


def run(*args: str) -> Result:
    return CliRunner().invoke(app, ["check", *args])


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_last_line_says_how_many_and_which_are_undecided() -> None:
    Path("main.py").write_text(GAP)
    last = "3 values placed, 1 undecided: main.py:8"
    for _ in range(2):  # by itself, and from the cache
        assert run().stderr.splitlines() == [
            "no findings in 1 file",
            f"{last} (`samedevice check --undecided` lists them)",
        ]
    assert run("--undecided").stderr.splitlines()[-1] == last
    Path("main.py").write_text(GAP.replace("strange(1)", "torch.ones(1, 3, device=device)"))
    assert run().stderr.splitlines() == [
        "nothing wrong in 1 file",
        "4 values placed, none undecided",
    ]
    assert "undecided" not in run("--ignore", "undecided").stderr  # nobody looked
    Path("main.py").write_text("print(1)\n")
    assert run().stderr.splitlines() == ["nothing wrong in 1 file"]


STOPS = """\
import torch
from library import Base


class Settings(Base):
    device: str = "cuda"


def made(settings: Settings):
    return torch.ones(3).to(settings.device)
"""


def test_a_program_that_may_stop_has_something_wrong() -> None:
    Path("main.py").write_text(STOPS)
    result = run("--ignore", "undecided")
    assert "note [cuda-not-judged]" in result.stdout
    assert result.stderr.splitlines()[0] == "no findings in 1 file (1 note)"


@pytest.mark.parametrize(
    "call",
    ['Engine("path", "cuda")', 'Engine("path", device="mps")', 'engines.make(device="xpu:0")'],
)
def test_a_device_that_a_library_is_given_is_told(call: str) -> None:
    Path("main.py").write_text(f"import engines\nfrom engines import Engine\n\nprint({call})\n")
    result = run()
    assert "note [cuda-not-judged]" in result.stdout
    assert result.stderr.splitlines()[0] == "no findings in 1 file (1 note)"


@pytest.mark.parametrize(
    "call", ['getattr(torch, "cuda")', 'import_module("mps")', 'Path("cuda").exists()']
)
def test_a_text_that_is_no_device_is_not_told(call: str) -> None:
    imports = "import torch\nfrom pathlib import Path\nfrom importlib import import_module\n"
    Path("main.py").write_text(f"{imports}\nprint({call})\n")
    assert run().stderr.splitlines()[0] == "nothing wrong in 1 file"


ALONE = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
models = [nn.Linear(3, 2) for _ in range(3)]
models[0].to(device)
x = torch.ones(4, 3, device=device)
print([model(x) for model in models])
"""


def test_a_list_of_which_one_member_is_moved_is_told() -> None:
    Path("main.py").write_text(ALONE)
    last = "3 values placed, 1 undecided: main.py:6"
    assert run("--undecided").stderr.splitlines()[-1] == last


def test_processes_and_the_order_of_files_change_no_count(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abc":
        Path(f"{name}.py").write_text(GAP)
    monkeypatch.setattr("samedevice.migration.check._WORTHWHILE", 1)
    lines = {
        run("--no-cache", *args, *paths).stderr
        for args in ([], ["-j", "1"], ["-j", "2"])
        for paths in (["."], ["c.py", "a.py", "b.py"])
    }
    assert len(lines) == 1
    assert "\n9 values placed, 3 undecided: a.py:8, b.py:8, c.py:8 (" in lines.pop()


def test_files_that_are_only_read_are_not_counted() -> None:
    Path("main.py").write_text(f"import helper\n{CHOSEN}x = torch.ones(3)\n")
    Path("helper.py").write_text(f"{CHOSEN}x = torch.ones(3)\n")
    assert "2 values placed" in run().stderr
    assert "1 value placed" in run("main.py").stderr


def test_reports_carry_the_counts() -> None:
    Path("main.py").write_text(GAP)
    forms = ["json", "sarif", "junit", "html"]
    run(*(f"--report={form}={form}" for form in forms))
    texts = {form: Path(form).read_text() for form in forms}
    document = json.loads(texts["json"])
    assert (document["placed"], document["undecided"]) == (3, 1)
    properties = json.loads(texts["sarif"])["runs"][0]["properties"]
    assert properties == {"placed": 3, "undecided": 1}
    (suite,) = ElementTree.fromstring(texts["junit"])
    (property_,) = suite.iter("property")
    assert (property_.get("name"), property_.get("value")) == ("placed", "3")
    assert (suite.get("tests"), suite.get("skipped")) == ("1", "1")
    assert "<p>3 values placed, 1 undecided.</p>" in texts["html"]
    assert "Nothing is wrong" not in texts["html"]
