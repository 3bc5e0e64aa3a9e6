"""The oldest torch that a project asks for, wherever it says so."""

from pathlib import Path

import pytest

from samedevice.reading.config import load
from samedevice.reading.requirements import UNKNOWN, floor_of


@pytest.mark.parametrize(
    ("requirement", "floor"),
    [
        ("torch>=2.6", (2, 6)),
        ("torch != 2.1, >= 2.0", (2, 0)),
        ("torch==1.13.1+cu117", (1, 13)),
        ("torch (>=1.7)", (1, 7)),
        ("pytorch::pytorch=1.10.2", (1, 10)),
        ("torch^2.3", (2, 3)),
        ("torch", UNKNOWN),
        ("torch<=2.8", UNKNOWN),
        ("torch<2", (1, 0)),  # what came with 2.0 is not there
        ("torch*", UNKNOWN),
        ("torchvision>=0.21", None),
        ("torch-geometric>=2.6", None),
    ],
)
def test_one_requirement(requirement: str, floor: object) -> None:
    assert floor_of(requirement) == floor


@pytest.mark.parametrize(
    ("name", "text", "floor"),
    [
        ("requirements-dev.txt", "pytest\ntorch>=2.4\n", (2, 4)),
        ("requirements/train.txt", "torch>=2.4\n", (2, 4)),
        ("setup.cfg", "[options]\ninstall_requires =\n    numpy\n    torch>=2.1\n", (2, 1)),
        ("setup.cfg", "[options.extras_require]\ngpu = torch>=2.1\n", (2, 1)),
        ("setup.py", "setup(install_requires=['torch>=1.8'])\n", (1, 8)),
        ("setup.py", "REQUIRES = ['numpy', 'torch>=1.8']\n", (1, 8)),
        ("setup.py", "print 'Python 2'\n", UNKNOWN),
        ("environment.yml", "dependencies:\n  - python=3.9\n  - pytorch=1.12.1 # old\n", (1, 12)),
        ("environment.yml", "dependencies:\n  - pip:\n    - torch==2.0.1\n", (2, 0)),
        ("pyproject.toml", "[dependency-groups]\ndev = ['torch>=2.5']\n", (2, 5)),
        ("pyproject.toml", "[tool.poetry.dependencies]\ntorch = '^2.2'\n", (2, 2)),
        ("pyproject.toml", "[tool.poetry.dependencies]\ntorch = {version = '2.2.1'}\n", (2, 2)),
        ("pyproject.toml", "[tool.poetry.group.gpu.dependencies]\ntorch = '*'\n", UNKNOWN),
        ("README.md", "torch>=2.6\n", UNKNOWN),
    ],
)
def test_where_it_is_said(tmp_path: Path, name: str, text: str, floor: object) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    assert load([str(tmp_path)]).torch_floor == floor


def test_the_oldest_counts_where_files_differ(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch\n")
    (tmp_path / "setup.py").write_text("setup(install_requires=['torch>=2.6'])\n")
    assert load([str(tmp_path)]).torch_floor == (2, 6)
    (tmp_path / "environment.yml").write_text("dependencies:\n- pytorch=2.4\n")
    assert load([str(tmp_path)]).torch_floor == (2, 4)
    (tmp_path / "pyproject.toml").write_text("[project]\nname='x'\ndependencies=['torch>=2.7']\n")
    assert load([str(tmp_path)]).torch_floor == (2, 7)
