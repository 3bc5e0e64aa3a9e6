"""Every traceback of the collection is explained rightly, or honestly declined."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from samedevice import explain, rules
from samedevice.cli import app
from samedevice.explain import CAUSES, Explanation
from samedevice.migration import migrate
from samedevice.prove.clash import read_message
from samedevice.prove.topics import MEANING
from samedevice.reading.config import Config
from tests.suite.catalogue import Program

from .collection import HOME, Text, recorded, texts

RECORDED = list(recorded())
#: Without CUDA torch stops here with words that say nothing of it.
WORDLESS = {"torch_load/storage_cuda"}


def explained(text: str, files: dict[str, str], folder: Path) -> Explanation | None:
    for path, code in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(code.lstrip("\n"), "utf-8")
    return explain.explain(text, migrate.read(["."], Config()), Config())


def contradicts(found: Explanation) -> bool:
    """Tell whether operands are on one side only, and nothing is said of it."""
    message = read_message(found.message)
    sides = {operand.on_device for operand in found.operands}
    apart = message is not None and len({operand.device for operand in message.operands}) > 1
    return apart and bool(sides) and not found.doubt and len(sides) == 1 and None not in sides


def test_size() -> None:
    assert len(RECORDED) + len(texts()) >= 60
    assert len(texts()) >= 40


def test_every_rule_that_is_named_exists() -> None:
    assert {rule for named in CAUSES.values() for rule in named} <= rules.load().keys()


@pytest.mark.parametrize(("program", "text"), RECORDED, ids=[str(one) for one, _ in RECORDED])
def test_recorded(
    program: Program, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = explained(text, program.files, tmp_path)
    assert found is not None
    assert (found.topic == "other") == (program.name in WORDLESS)
    frames = re.findall(rf'File "{HOME}/(\S+)", line (\d+)', text)
    assert found.path == frames[-1][0]
    assert found.line <= int(frames[-1][1])
    assert not contradicts(found)
    # Where nothing is found in the program, nothing can be told, and `explain` says that.
    about = found.findings or found.elsewhere
    assert about or program.pending or program.name in WORDLESS


@pytest.mark.parametrize("text", texts(), ids=[text.name for text in texts()])
def test_text(text: Text, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = explained(text.text, {"main.py": text.program}, tmp_path)
    assert found is not None
    assert found.topic == text.topic
    listed = [*found.findings, *found.elsewhere]
    if text.topic != "device":
        assert MEANING[found.topic]
        assert not found.operands
        assert not listed
        assert found.line == text.line
        return
    assert not contradicts(found)
    if text.rule:
        assert (text.rule, text.line) in [(each.rule, each.span.line) for each in listed]
    assert bool(found.doubt) == text.doubt
    sides = {True: "device", False: "cpu", None: "unknown"}
    seen = [f"{operand.code}: {sides[operand.on_device]}" for operand in found.operands]
    assert not text.operands or seen == list(text.operands)


def test_a_text_without_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert (
        explained("INFO: all is well\nloss: 0.1", {"main.py": "import torch\n"}, tmp_path) is None
    )


NOTEBOOK = {
    "nbformat": 4,
    "metadata": {},
    "cells": [
        {"cell_type": "code", "source": "import torch\ndevice = torch.device('cuda')"},
        {
            "cell_type": "code",
            "source": "net = torch.nn.Linear(2, 2).to(device)\nx = torch.ones(3, 2)",
        },
        {"cell_type": "markdown", "source": "# Now"},
        {"cell_type": "code", "source": "y = 1\nnet(x)"},
    ],
}
TOLD = (
    "RuntimeError: Expected all tensors to be on the same device, but found at least two devices!\n"
)


@pytest.mark.parametrize(
    "frame",
    [
        'Traceback (most recent call last):\n  File "/x/n.ipynb:cell 4", line 2, in <module>\n'
        "    net(x)\n",
        "Cell In[17], line 2\n      1 y = 1\n----> 2 net(x)\n\n",
        "Input In [17], in <cell line: 2>()\n      1 y = 1\n----> 2 net(x)\n\n",
    ],
)
def test_a_frame_is_found_in_its_cell(
    frame: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = explained(frame + TOLD, {"n.ipynb": json.dumps(NOTEBOOK)}, tmp_path)
    assert found is not None and found.code == "net(x)"
    assert [finding.rule for finding in found.findings] == ["tensor-without-device"]
    Path("error.txt").write_text(frame + TOLD)
    shown = CliRunner().invoke(app, ["explain", "error.txt"]).stdout
    assert "\nn.ipynb:cell 4:2: net(x)\n" in shown
    assert "since n.ipynb:cell 2:2: x = torch.ones(3, 2)\n" in shown


def test_two_cells_alike_are_not_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    twice = {**NOTEBOOK, "cells": [*NOTEBOOK["cells"], NOTEBOOK["cells"][-1]]}  # type: ignore
    text = "Cell In[17], line 2\n      1 y = 1\n----> 2 net(x)\n\n" + TOLD
    found = explained(text, {"n.ipynb": json.dumps(twice)}, tmp_path)
    assert found is not None and not found.path


def test_a_file_of_that_name_nearest_to_the_top_is_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code = """
import torch
device = torch.device("cuda")
x = torch.ones(2, device=device)
y = x + torch.ones(2)
"""
    text = (
        'Traceback (most recent call last):\n  File "/home/ada/{}", line 4, in <module>\n'
        "    y = x + torch.ones(2)\nRuntimeError: Expected all tensors to be on the same device, "
        "but found at least two devices, cuda:0 and cpu!\n"
    )
    files = {"a/train.py": code, "train.py": code, "b/other.py": "pass", "other.py": code}
    found = explained(text.format("train.py"), files, tmp_path)
    assert found is not None and found.path == "train.py"
    found = explained(text.format("a/train.py"), files, tmp_path)
    assert found is not None and found.path == "a/train.py"
    found = explained(text.format("other.py"), {"other.py": "pass", "b/other.py": code}, tmp_path)
    assert found is not None and found.path == "b/other.py"


def test_what_numpy_reads_is_where_torch_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another mistake above makes it look as if it were to be on the CPU."""
    program = """
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)
        self.shift = torch.zeros(2)

    def forward(self, x):
        return self.layer(x) + self.shift


y = Net().to(device)(torch.ones(1, 3))
print(y.detach().numpy())
"""
    monkeypatch.chdir(tmp_path)
    text = (
        'Traceback (most recent call last):\n  File "main.py", line 18, in <module>\n'
        "    print(y.detach().numpy())\n"
        "TypeError: can't convert cuda:0 device type tensor to numpy."
    )
    found = explained(text, {"main.py": program}, tmp_path)
    assert found is not None
    assert [(one.code, one.on_device) for one in found.operands] == [("y.detach()", True)]
    assert {one.rule for one in found.findings} == {"not-moved-to-cpu"}
