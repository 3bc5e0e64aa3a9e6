"""Every function of `torch.cuda` that raises without CUDA is told, used in each way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from samedevice.migration import migrate
from samedevice.migration.check import check
from samedevice.reading.config import Config

pytestmark = pytest.mark.torch

#: Calls every public function of `torch.cuda`, and prints those that raise, with their arguments.
ASK = """
import inspect
import torch
ARGUMENTS = {
    "set_device": "0", "get_device_properties": "0", "can_device_access_peer": "0, 0",
    "set_per_process_memory_fraction": "0.5", "set_rng_state": "torch.get_rng_state()",
    "set_rng_state_all": "[torch.get_rng_state()]", "set_stream": "None", "stream": "None",
    "caching_allocator_alloc": "16", "caching_allocator_delete": "0", "manual_seed": "0",
    "manual_seed_all": "0", "set_sync_debug_mode": "0", "ExternalStream": "0",
    "device_of": "torch.ones(1)", "device": "0",
    "make_graphed_callables": "net, (torch.ones(1),)",
}
net = torch.nn.Linear(1, 1)
for name, found in sorted(vars(torch.cuda).items()):
    if name.startswith("_") or not getattr(found, "__module__", "").startswith("torch.cuda"):
        continue
    if not inspect.isfunction(found) and not inspect.isclass(found):
        continue
    if name.endswith(("Error", "Tensor", "Storage")):
        continue
    call = f"torch.cuda.{name}({ARGUMENTS.get(name, '')})"
    try:
        eval(call)
    except TypeError:
        pass
    except Exception:
        print(call)
"""
HEAD = """\
import torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = torch.nn.Linear(1, 1).to(device)
"""
USES = (
    "{}",
    "value = {}",
    "print({}, net)",
    "values = [{} for _ in range(2)]",
    "chosen = 1 if {} else 2",
    "with {} as inner:\n    pass",
    "def ask():\n    return {}\nprint(ask())",
)


@pytest.fixture(scope="module")
def raising() -> list[str]:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("needs a machine without CUDA")
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ASK], capture_output=True, text=True, check=True
    )
    return ran.stdout.splitlines()


def test_there_are_some(raising: list[str]) -> None:
    assert len(raising) > 30
    assert "torch.cuda.get_device_properties(0)" in raising


@pytest.mark.parametrize("use", USES, ids=["alone", *(use.split("\n")[0] for use in USES[1:])])
def test_what_raises_is_told(use: str, raising: list[str], tmp_path: Path) -> None:
    untold = []
    for call in raising:
        (tmp_path / "main.py").write_text(HEAD + use.format(call) + "\n")
        found = check(migrate.read([str(tmp_path)], Config()), Config())
        if not any(finding.rule == "cuda-only-api" for finding in found):
            untold.append(call)
    assert not untold


def fixed(folder: Path, code: str) -> str:
    (folder / "main.py").write_text(code)
    outcome = migrate.migrate(migrate.read([str(folder)], Config()), Config())
    return next((change.after.decode() for change in outcome.changes), code)


def ran(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    (folder / "main.py").write_text(code)
    command = [sys.executable, "-W", "ignore", "main.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_marks_for_the_profiler(tmp_path: Path) -> None:
    code = HEAD + (
        "with torch.cuda.nvtx.range('step'):\n"
        "    y = net(torch.ones(2, 1, device=device))\n"
        "torch.cuda.nvtx.range_push('after')\n"
        "torch.cuda.nvtx.mark('here')\n"
        "torch.cuda.nvtx.range_pop()\n"
        "print(y.shape)\n"
    )
    assert ran(tmp_path, code).returncode != 0
    after = fixed(tmp_path, code)
    assert "if device.type == 'cuda' else contextlib.nullcontext()" in after
    done = ran(tmp_path, after)
    assert (done.returncode, done.stdout) == (0, "torch.Size([2, 1])\n"), done.stderr


@pytest.mark.parametrize(
    "line", ["@torch.cuda.nvtx.range('f')\ndef f(): pass", "n = torch.cuda.nvtx.range_start('a')"]
)
def test_marks_that_cannot_be_left_out_are_told(line: str, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(f"{HEAD}{line}\n")
    found = check(migrate.read([str(tmp_path)], Config()), Config())
    assert [one.rule for one in found if one.fix is None] == ["cuda-only-api"]


def test_another_vendor_is_not_called_cuda(tmp_path: Path) -> None:
    head = 'import torch\ndevice = torch.device("xpu" if torch.xpu.is_available() else "cpu")\n'
    code = head + (
        "net = torch.nn.Linear(1, 1).to(device)\n"
        "torch.xpu.synchronize()\n"
        "print(torch.xpu.get_device_name(0))\n"
        "if torch.xpu.is_available():\n"
        "    torch.xpu.synchronize()\n"
        "print(net.bias.shape)\n"
    )
    (tmp_path / "main.py").write_text(code)
    found = check(migrate.read([str(tmp_path)], Config()), Config())
    assert found and all("without XPU" in one.message for one in found)
    after = fixed(tmp_path, code)
    assert "cuda" not in after
    assert after.count('device.type == "xpu"') == 1  # what stands behind a test of its own stays
    done = ran(tmp_path, after)
    assert (done.returncode, done.stdout) == (0, "torch.Size([1])\n"), done.stderr


def test_two_vendors_in_a_row_are_asked_for_each(tmp_path: Path) -> None:
    head = 'import torch\ndevice = torch.device("xpu" if torch.xpu.is_available() else "cpu")\n'
    code = head + "torch.xpu.synchronize()\ntorch.cuda.synchronize()\nprint(device.type)\n"
    after = fixed(tmp_path, code)
    assert 'if device.type == "xpu":\n    torch.xpu.synchronize()\n' in after
    assert 'if device.type == "cuda":\n    torch.cuda.synchronize()\n' in after
    assert ran(tmp_path, after).stdout == "cpu\n"
