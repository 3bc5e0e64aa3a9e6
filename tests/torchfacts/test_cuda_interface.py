"""Every function of `torch.cuda` that raises without CUDA is told, used in each way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from samedevice import migrate
from samedevice.check import check
from samedevice.config import Config

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
