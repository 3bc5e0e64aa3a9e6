"""Where a notebook's device comes from: a cell of its own, behind what makes imports possible."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from samedevice.cli import app

MODEL = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)

    def forward(self, x):
        return self.layer(x) + torch.zeros(1).cuda()


def fresh():
    return torch.ones(2, 3).cuda()
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("parts").mkdir()
    Path("parts/__init__.py").touch()
    Path("parts/model.py").write_text(MODEL)


def _write(*cells: str) -> None:
    made = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": c}
        for c in cells
    ]
    text = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    Path("try.ipynb").write_text(json.dumps(text, indent=1))


def _fixed() -> list[str]:
    done = CliRunner().invoke(app, ["fix", "--yes", "."])
    assert done.exit_code in (0, 1), done.output
    return [cell["source"] for cell in json.loads(Path("try.ipynb").read_text())["cells"]]


def test_behind_the_lines_that_install_and_add_paths() -> None:
    _write(
        "import sys\nif 'google.colab' in sys.modules:\n    !git clone there\n"
        "    sys.path.append('./there')\n%cd there",
        "from parts.model import Net, fresh",
        "import torch\nimport json\n%matplotlib inline",
        "net = Net()\nnet.cuda()\nprint(net(fresh().cuda()).shape)",
    )
    first, second, third, last = _fixed()
    assert "device" not in first + second
    assert third.splitlines()[:2] == ["import torch", "import json"]
    assert "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')" in third
    assert "net.to(device)" in last


def test_in_the_cell_that_imports_torch() -> None:
    _write(
        "from parts.model import Net",
        "import torch\nfrom torch import nn\n\nnet = nn.Linear(3, 1).cuda()\n"
        "print(net(torch.ones(2, 3).cuda()).shape)",
    )
    first, last = _fixed()
    assert first == "from parts.model import Net"
    assert last.index("from torch import nn") < last.index("device =") < last.index("nn.Linear")


def test_where_torch_is_not_imported_yet() -> None:
    _write("from parts.model import Net", "net = Net()", "net.cuda()")
    first, _, last = _fixed()
    assert first.startswith("from parts.model import Net\nimport torch\n")
    assert last == "net.to(device)"


def test_all_of_a_notebook_or_nothing() -> None:
    cells = (
        "import torch\nfrom torch import nn",
        "state = torch.load('x.pt', map_location='cuda')",
        "for device in range(2):\n    print(device)",
        "net = nn.Linear(3, 1)\nnet.load_state_dict(state)\nnet = net.to(torch.device('cuda:0'))",
    )
    _write(*cells)
    after = _fixed()
    assert tuple(after) == cells or "cuda:0" not in after[3] and "'cuda'" not in after[1]
