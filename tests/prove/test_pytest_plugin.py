"""`pytest --virtual-device` in projects of their own."""

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

SUITE = """
import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)
        self.mask = torch.ones(2)

    def forward(self, x):
        return self.linear(x) * self.mask

def test_on_device():
    assert torch.ones(2, device=DEVICE).sum().item() == 2

def test_model():
    Net().to(DEVICE)(torch.ones(1, 2, device=DEVICE))

def test_other_failure():
    assert DEVICE == "tpu"
"""


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    if not any(point.name == "samedevice" for point in entry_points(group="pytest11")):
        command += ["-p", "samedevice.prove.pytest_plugin"]
    env = {**os.environ, "PYTEST_ADDOPTS": "", "NO_COLOR": "1"}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, env=env)


def test_without_the_option_torch_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(
        "import sys\ndef test(): assert 'torch' not in sys.modules\n", "utf-8"
    )
    done = run_pytest(tmp_path)
    assert done.returncode == 0, done.stdout
    assert "samedevice:" not in done.stdout


@pytest.mark.parametrize("recorded", ["clash", "always"])
def test_suite_on_the_virtual_device(tmp_path: Path, recorded: str) -> None:
    pytest.importorskip("torch")
    (tmp_path / "conftest.py").write_text(
        "import torch\nassert torch.cuda.is_available()\n", "utf-8"
    )
    (tmp_path / "test_a.py").write_text(SUITE, "utf-8")
    done = run_pytest(tmp_path, "--virtual-device", f"--virtual-record={recorded}")
    assert done.returncode == 1, done.stdout + done.stderr
    said = "operations ran on virtual" if recorded == "always" else "tensors were made on virtual"
    assert said in done.stdout
    assert "1 passed" in done.stdout and "2 failed" in done.stdout
    assert "samedevice: 1 virtual cuda device(s)" in done.stdout
    assert "1 test(s) ended by a device clash" in done.stdout
    assert "test_a.py::test_model: mismatch" in done.stdout
    assert done.stdout.count("Device clash") == 1
    section = done.stdout[done.stdout.index("Device clash") :]
    assert "self.mask is on cpu" in section
    assert "created on cpu" in section and "self.mask = torch.ones(2)" in section
    assert "moved to cuda:0" in section
    assert "rules.py" not in done.stdout and "watch.py" not in done.stdout  # ours


FIXTURES = """
import pytest, torch

@pytest.fixture(scope="module")
def mask():
    return torch.ones(2)

@pytest.fixture
def x():
    return torch.ones(2).cuda()

def test_expected(x, mask):
    with pytest.raises(RuntimeError):
        x + torch.zeros(2)

used = []

def test_once(x, mask):
    used.append(1)
    assert len(used) == 1, "it ran twice"
    with pytest.raises(RuntimeError):
        x + torch.zeros(2)
    x * mask
"""


@pytest.mark.parametrize(("recorded", "has_history"), [("last", True), ("never", False)])
def test_the_last_clash_of_a_test_that_cannot_run_twice(
    tmp_path: Path, recorded: str, has_history: bool
) -> None:
    pytest.importorskip("torch")
    (tmp_path / "test_a.py").write_text(FIXTURES, "utf-8")
    done = run_pytest(tmp_path, "--virtual-device", f"--virtual-record={recorded}")
    assert "1 passed" in done.stdout and "1 failed" in done.stdout, done.stdout + done.stderr
    assert "tensors were made on virtual" in done.stdout and "Error: it ran" not in done.stdout
    section = done.stdout[done.stdout.index("Device clash") :]
    assert "mask is on cpu" in section and "torch.zeros" not in section
    assert ("return torch.ones(2).cuda()" in section) is has_history
    assert ("created on cpu  test_a.py:6  return torch.ones(2)" in section) is has_history


def test_what_a_gpu_refuses_on_demand(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "test_a.py").write_text(
        """
import pytest
import torch

def test_memory():
    x = torch.ones(1 << 20, device="cuda")
    with pytest.raises(torch.cuda.OutOfMemoryError, match="CUDA out of memory. Tried to allocate"):
        torch.ones(5 << 20, device="cuda")
    assert torch.cuda.get_device_properties(0).total_memory == 16 << 20

def test_index():
    with pytest.raises(RuntimeError, match="device-side assert triggered"):
        torch.ones(3, device="cuda")[torch.tensor([5], device="cuda")]
    with pytest.raises(RuntimeError, match="device-side assert triggered"):
        torch.ones(3, device="cuda")
""",
        "utf-8",
    )
    done = run_pytest(tmp_path, "--virtual-device", "--virtual-memory=16M", "--virtual-asserts")
    assert done.returncode == 0, done.stdout + done.stderr
    done = run_pytest(tmp_path, "--virtual-device", "--virtual-memory=much")
    assert done.returncode == 4
    assert "expected a size such as 8G" in done.stderr


def test_the_same_suite_without_a_device(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "test_a.py").write_text(SUITE, "utf-8")
    done = run_pytest(tmp_path)
    assert "2 passed" in done.stdout and "1 failed" in done.stdout


def test_two_devices(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "test_a.py").write_text(
        "import torch\ndef test(): assert torch.cuda.device_count() == 2\n", "utf-8"
    )
    done = run_pytest(tmp_path, "--virtual-device=cuda", "--virtual-devices", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no test used cuda" in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["--virtual-device", "tests/"],
        ["--virtual-device", "tests/test_b.py::test"],
        ["-q", "--virtual-device", "cuda", "tests"],
        ["tests", "--virtual-device"],
    ],
)
def test_a_path_after_the_option(tmp_path: Path, words: list[str]) -> None:
    pytest.importorskip("torch")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "conftest.py").write_text("STARTED = True\n", "utf-8")
    (tmp_path / "tests" / "test_b.py").write_text(
        "import torch\ndef test(): assert torch.ones(1, device='cuda').is_cuda\n", "utf-8"
    )
    (tmp_path / "test_elsewhere.py").write_text("def test(): assert False\n", "utf-8")
    done = run_pytest(tmp_path, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


@pytest.mark.parametrize("value", ["tests/", "nonsense"])
def test_a_type_that_is_none(tmp_path: Path, value: str) -> None:
    pytest.importorskip("torch")
    (tmp_path / "test_a.py").write_text("def test(): pass\n", "utf-8")
    done = run_pytest(tmp_path, f"--virtual-device={value}")
    assert done.returncode == 4
    assert f"--virtual-device={value}" in done.stderr
    assert "Traceback" not in done.stderr
