"""`pytest --virtual-device` with suites of all kinds: those of docs/how-to/cpu-ci.md."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")
from .test_pytest_plugin import run_pytest  # noqa: E402


def test_a_suite_with_an_option_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        """
import pytest, torch

def pytest_addoption(parser):
    parser.addoption("--device", default="cpu")

@pytest.fixture
def device(request):
    chosen = torch.device(request.config.getoption("--device"))
    if chosen.type == "cuda" and not torch.cuda.is_available():
        pytest.exit("no CUDA")
    return chosen
""",
        "utf-8",
    )
    (tmp_path / "test_a.py").write_text(
        "import torch\n"
        "def test_it(device): assert torch.ones(2, device=device).device.type == device.type\n"
        "def test_fails_there(device): torch.ones(2, device=device) + torch.ones(2)\n",
        "utf-8",
    )
    done = run_pytest(tmp_path, "--device=cpu")
    assert "2 passed" in done.stdout, done.stdout
    done = run_pytest(tmp_path, "--virtual-device", "--device=cuda")
    assert "1 passed" in done.stdout and "1 failed" in done.stdout, done.stdout + done.stderr
    assert "test_a.py::test_fails_there: mismatch" in done.stdout


def test_device_generic_tests_of_torch(tmp_path: Path) -> None:
    pytest.importorskip("expecttest")  # which torch's own test tools import
    (tmp_path / "test_a.py").write_text(
        """
import torch
from torch.testing import make_tensor
from torch.testing._internal.common_device_type import (
    dtypes, instantiate_device_type_tests, onlyCPU, onlyCUDA
)
from torch.testing._internal.common_utils import TestCase

class TestMine(TestCase):
    @dtypes(torch.float32, torch.float64)
    def test_twice(self, device, dtype):
        x = make_tensor((3,), device=device, dtype=dtype)
        self.assertEqual(x + x, x * 2)
        self.assertEqual(x.device.type, torch.device(device).type)

    @onlyCUDA
    def test_there(self, device):
        with self.assertRaisesRegex(RuntimeError, "Expected all tensors to be on the same device"):
            torch.ones(2, device=device) + torch.ones(2)

    @onlyCPU
    def test_here(self, device):
        pass

instantiate_device_type_tests(TestMine, globals())
""",
        "utf-8",
    )
    done = run_pytest(tmp_path, "-v", "--virtual-device")
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("twice_cuda_float32", "twice_cuda_float64", "there_cuda", "twice_cpu_float32"):
        assert f"test_{name} PASSED" in done.stdout, done.stdout


def test_many_processes(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    (tmp_path / "test_a.py").write_text(
        """
import os, pytest, torch

@pytest.mark.parametrize("number", range(4))
def test_it(number):
    assert os.environ["PYTEST_XDIST_WORKER"]
    assert torch.ones(2, device="cuda").sum().item() == 2

def test_fails():
    torch.ones(2, device="cuda") + torch.ones(2)
""",
        "utf-8",
    )
    done = run_pytest(tmp_path, "-n", "2", "--virtual-device", "--virtual-devices", "2")
    assert "4 passed" in done.stdout and "1 failed" in done.stdout, done.stdout + done.stderr
    assert "created on cpu" in done.stdout  # the report of a clash comes from the worker
    assert "test_a.py::test_fails: mismatch" in done.stdout


def test_compiled_models(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(
        """
import pytest, torch
from torch import nn
from torch._dynamo.testing import CompileCounter

@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_trains(backend):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1)).cuda()
    compiled = torch.compile(model, backend=backend)
    x = torch.rand(8, 3, device="cuda")
    loss = compiled(x).pow(2).mean()
    loss.backward()
    assert torch.equal(loss, model(x).pow(2).mean()) and model[0].weight.grad.is_cuda

def test_graphs():
    @torch.compile(backend=(counter := CompileCounter()))
    def f(x):
        return x.sin() + 1
    f(torch.ones(3, device="cuda"))
    assert (counter.frame_count, counter.op_count) == (1, 2)

def test_clash():
    def f(x):
        return x + torch.ones(3)
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        torch.compile(f, backend="eager")(torch.ones(3, device="cuda"))
""",
        "utf-8",
    )
    done = run_pytest(tmp_path, "--virtual-device")
    assert "5 passed" in done.stdout, done.stdout + done.stderr


def test_the_environment_of_tox(tmp_path: Path) -> None:
    """What tox sets and takes away is what a child of it has: no PYTHONPATH, another directory."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text(
        "import subprocess, sys\n"
        "def test():\n"
        "    code = \"import torch; print(torch.ones(1, device='cuda').device)\"\n"
        "    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)\n"
        "    assert done.stdout == 'cuda:0\\n', done.stderr\n",
        "utf-8",
    )
    done = run_pytest(tmp_path, "--virtual-device", "tests/")
    assert done.returncode == 0, done.stdout + done.stderr
