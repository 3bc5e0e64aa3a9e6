"""An error of devices in a running program says where its operands are, and how to repair it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

SCRIPT = """\
import sys
import torch
import samedevice

sys.excepthook = samedevice.excepthook
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = torch.nn.Linear(4, 2).to(device)
x = torch.randn(3, 4)
{last}
"""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python on a virtual accelerator, as a program runs on a machine with a GPU."""
    from samedevice.prove.virtual import VARIABLE, hook_directory

    paths = [hook_directory(), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join(paths), VARIABLE: "cuda:1", "HOME": str(folder),
        "COLUMNS": "100", "NO_COLOR": "1",
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip


def test_a_script_that_fails_on_a_device(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT.format(last="net(x)"))
    done = run(tmp_path, "train.py")
    assert done.returncode == 1
    told = done.stderr
    assert told.startswith("Traceback (most recent call last)")
    assert told.index("Expected all tensors") < told.index("clash: two operands of one operation")
    assert "  net is on cuda:0" in told and "  x is on cpu" in told
    assert "train.py:8:5 warning [tensor-without-device]" in told
    assert told.rstrip().endswith("`samedevice fix .` repairs it")


def test_another_error_is_told_as_ever(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT.format(last="1 / 0"))
    done = run(tmp_path, "train.py")
    assert done.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"


def test_nothing_is_imported_before_an_error() -> None:
    code = (
        "import sys, samedevice\n"
        "assert {name for name in sys.modules if name.startswith('samedevice.')} <= "
        "{'samedevice.prove', 'samedevice.prove.virtual'}\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


NOTEBOOK = """\
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "samedevice")
shell.run_cell("import torch", store_history=True)
shell.run_cell("device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\\n"
               "net = torch.nn.Linear(4, 2).to(device)", store_history=True)
shell.run_cell("x = torch.randn(3, 4)\\nnet(x)", store_history=True)
print("NEXT", repr(shell.rl_next_input))
shell.run_cell(shell.rl_next_input, store_history=True)
shell.run_cell("1 / 0", store_history=True)
"""


def test_a_cell_that_fails_on_a_device(tmp_path: Path) -> None:
    pytest.importorskip("IPython")
    (tmp_path / "drive.py").write_text(NOTEBOOK)
    told = run(tmp_path, "drive.py").stdout
    assert told.count("clash: ") == 1
    operands = told[told.index("  net is on cuda:0") :].splitlines()
    assert operands[1].startswith("  x is on cpu")
    assert "\nIn[3]:2\n" in told  # as IPython calls it, and no file of its own
    assert "  net is there since In[2]:1: device = torch.device(" in told
    assert "  x is there since In[3]:1: x = torch.randn(3, 4)\n" in told
    assert "\nIn[3]\n@@ " in told
    assert "+x = torch.randn(3, 4, device=device)\n" in told
    assert "NEXT 'x = torch.randn(3, 4, device=device)\\nnet(x)'" in told
