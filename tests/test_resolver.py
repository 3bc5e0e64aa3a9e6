"""`--resolver` from the flag to the file, with the real rules."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from samedevice.cli import app

TRAIN = """\
import torch
from torch import nn


def main():
    model = nn.Linear(2, 2)
    print(model(torch.ones(3, 2)).shape)


main()
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(TRAIN)


def fix(*flags: str) -> Result:
    return CliRunner().invoke(app, ["fix", "--yes", *flags])


def runs() -> bool:
    pytest.importorskip("torch")
    done = subprocess.run([sys.executable, "train.py"], capture_output=True, text=True)
    return done.stdout == "torch.Size([3, 2])\n"


@pytest.mark.parametrize("kind", ["cuda", "accelerator"])
def test_a_new_one(kind: str) -> None:
    assert fix("--resolver", kind).exit_code == 0
    text = Path("train.py").read_text()
    assert ("torch.accelerator" in text) is (kind == "accelerator")
    assert "nn.Linear(2, 2).to(device)" in text
    assert "torch.ones(3, 2, device=device)" in text
    assert fix("--resolver", kind).stderr == "nothing to change in 1 file\n"
    assert runs()


def test_the_torch_that_the_project_asks_for_decides() -> None:
    Path("requirements.txt").write_text("torch>=2.6\n")
    fix()
    assert "torch.accelerator" in Path("train.py").read_text()


def test_a_function_of_the_project() -> None:
    Path("utils.py").write_text("import torch\n\n\ndef pick():\n    return torch.device('cpu')\n")
    assert fix("--resolver", "utils:pick").exit_code == 0
    text = Path("train.py").read_text()
    assert "from utils import pick\n" in text
    assert "nn.Linear(2, 2).to(pick())" in text
    assert "torch.ones(3, 2, device=pick())" in text
    assert "is_available" not in text
    assert fix("--resolver", "utils:pick").stderr == "nothing to change in 2 files\n"
    assert runs()


def test_a_function_from_elsewhere() -> None:
    fix("--resolver", "company.devices:get_device")
    text = Path("train.py").read_text()
    assert "from company.devices import get_device\n" in text
    assert fix("--resolver", "company.devices:get_device").exit_code == 0
    assert Path("train.py").read_text() == text


def test_a_name_that_the_file_uses_for_something_else_is_not_shadowed() -> None:
    before = TRAIN.replace("main()\n", "pick = 3\nmain()\n")
    Path("train.py").write_text(before)
    fix("--resolver", "company.devices:pick")
    assert Path("train.py").read_text() == before
