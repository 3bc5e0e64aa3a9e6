"""`fix --run`, `fix --prove` and `explain`: what a run or a traceback shows becomes a fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from samedevice import explain
from samedevice.migration import by_running, migrate
from samedevice.prove.process import Limits
from samedevice.prove.run import Settings
from samedevice.reading.config import Config

MAIN = """\
import torch
from torch import nn

import helpers

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 3).to(device)
x = torch.ones(2, 3)
y = model(x)
hidden = helpers.hidden()
print((y + hidden).shape)
"""

# Inference cannot see through this; a run can.
HELPERS = """\
def hidden():
    make = eval("__import__('torch').ones")
    return make(2, 3)
"""

TRACEBACK = """\
Traceback (most recent call last):
  File "/home/someone/project/main.py", line 9, in <module>
    y = model(x)
        ^^^^^^^^
  File "/opt/lib/python3.12/site-packages/torch/nn/modules/linear.py", line 125, in forward
    return F.linear(input, self.weight, self.bias)
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, \
cuda:0 and cpu! (when checking argument for argument mat1 in method wrapper_CUDA_addmm)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "main.py").write_text(MAIN)
    (tmp_path / "helpers.py").write_text(HELPERS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_traceback_is_explained_by_the_statement_and_its_origins(folder: Path) -> None:
    found = explain.explain(TRACEBACK, migrate.read(["."], Config()), Config())
    assert found is not None
    assert (found.path, found.line, found.code) == ("main.py", 9, "y = model(x)")
    assert {operand.code for operand in found.operands} == {"model", "x"}
    assert [operand.certain for operand in found.operands] == [True, False]
    assert [finding.span.line for finding in found.findings] == [8]


def test_text_without_a_traceback(folder: Path) -> None:
    assert explain.explain("all is well", migrate.read(["."], Config()), Config()) is None


def test_a_traceback_of_another_project(folder: Path) -> None:
    found = explain.explain(
        TRACEBACK.replace("main.py", "other.py"), migrate.read(["."], Config()), Config()
    )
    assert found is not None
    assert found.path == ""


@pytest.mark.torch
def test_a_run_shows_what_inference_cannot_see(folder: Path) -> None:
    pytest.importorskip("torch")
    project = migrate.read(["."], Config())
    inferred = migrate.migrate(project, Config())
    assert not by_running.proved(inferred, folder, "main.py").passed
    done = by_running.by_running(project, Config(), folder, "main.py")
    assert done.stuck == ""
    assert done.result.clash is None
    after = {change.path: change.after.decode() for change in done.outcome.changes}
    assert "hidden = helpers.hidden(device=device)\n" in after["main.py"]
    assert "    return make(2, 3, device=device)\n" in after["helpers.py"]
    assert by_running.proved(done.outcome, folder, "main.py").passed
    assert (folder / "main.py").read_text() == MAIN


@pytest.mark.torch
def test_what_cannot_be_repaired_is_told_of_the_users_files(folder: Path) -> None:
    pytest.importorskip("torch")
    (folder / "main.py").write_text(
        "import torch\n\n\ndef here():\n    return eval('torch.ones(3)')\n\n\n"
        "def there():\n    return eval('torch.ones(3).cuda()')\n\n\n"
        "torch.dot(*map(lambda made: made(), [here, there]))\n"
    )
    project = migrate.read(["."], Config())
    done = by_running.by_running(project, Config(), folder, "main.py")
    assert done.stuck == "no operand of it can be moved safely"
    clash = done.result.clash
    assert clash is not None and clash.file == str(folder / "main.py")
    assert {str(Path(one.file).parent) for one in clash.frames} == {str(folder)}
    assert "torch.dot" in done.result.stderr.text and str(folder) in done.result.stderr.text
    assert "/samedevice-" not in str(done.result.to_json())


PICKLED = """\
import pickle
import torch
from torch import nn

torch.manual_seed(0)
rows = pickle.loads(pickle.dumps({"x": torch.randn(16, 4), "y": torch.ones(16, 1)}))
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    loss = (net(rows["x"]) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
"""


@pytest.mark.torch
def test_a_run_decides_what_a_conversion_waits_for(folder: Path) -> None:
    pytest.importorskip("torch")
    (folder / "main.py").write_text(PICKLED)
    project = migrate.read(["main.py"], Config())
    assert not migrate.migrate(project, Config()).changes
    done = by_running.by_running(project, Config(), folder, "main.py")
    assert done.result.passed
    (change,) = done.outcome.changes
    assert "= nn.Linear(4, 1).to(device)" in change.after.decode()
    assert not [left for left in done.outcome.remaining if left.rule == "undecided"]


@pytest.mark.torch
def test_a_conversion_that_a_run_does_not_decide_is_left(folder: Path) -> None:
    pytest.importorskip("torch")
    (folder / "main.py").write_text(PICKLED + "raise ValueError\n")
    project = migrate.read(["main.py"], Config())
    done = by_running.by_running(project, Config(), folder, "main.py")
    assert not done.result.passed
    assert not done.outcome.changes
    assert [change.path for change in done.outcome.incomplete] == ["main.py"]
    assert [left.rule for left in done.outcome.remaining if left.rule == "undecided"]


@pytest.mark.torch
def test_what_met_nothing_elsewhere_in_a_run_is_decided(folder: Path) -> None:
    pytest.importorskip("torch")
    (folder / "main.py").write_text(
        "import operator\nimport pickle\nimport sys\nimport torch\n\n"
        'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
        "net = torch.nn.Linear(4, 1).to(device)\n"
        "rows = pickle.loads(pickle.dumps([torch.ones(2, 4)]))\n"
        'x = operator.methodcaller("to", device)(rows[0])\n'
        "print(net(x).shape)\n"
        "if len(sys.argv) > 5:\n"
        "    print(net(rows[0]).shape)\n"
    )
    project = migrate.read(["main.py"], Config())
    done = by_running.by_running(project, Config(), folder, "main.py")
    assert done.result.passed and done.decided == 2
    (change,) = done.outcome.changes  # the line that did not run, too
    assert "rows = [t.to(device) for t in rows]\nx = " in change.after.decode()
    assert not done.outcome.remaining


@pytest.mark.torch
def test_an_arm_that_did_not_run_stays_undecided(folder: Path) -> None:
    pytest.importorskip("torch")
    (folder / "main.py").write_text(
        "import pickle\nimport sys\nimport torch\n\n"
        'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
        "net = torch.nn.Linear(4, 1).to(device)\n"
        "x = torch.ones(2, 4, device=device)\n"
        "print((net(x) if len(sys.argv) < 5 else net(pickle.loads(b''))).shape)\n"
        "print(net(pickle.loads(pickle.dumps(x))).shape)\n"
    )
    project = migrate.read(["main.py"], Config())
    done = by_running.by_running(project, Config(), folder, "main.py")
    assert done.result.passed and done.decided == 1
    (left,) = (one for one in done.outcome.remaining if one.rule == "undecided")
    assert (left.span.line, left.span.column) == (8, 44)


LAZY = """\
import torch
from torch import nn

table = eval("lambda n, device, kept={}: kept.setdefault(n, torch.ones(n, 1, device=device))")


class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        return self.proj(x) * table(x.shape[0], x.device)


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Rotary(4).to(device)
x = torch.randn(5, 4, device=device)
model(x)
model.cpu()
print(model(x.cpu()).shape)
"""


@pytest.mark.torch
def test_a_repair_that_does_not_end_the_clash_gives_way_to_another(folder: Path) -> None:
    pytest.importorskip("torch")
    (folder / "main.py").write_text(LAZY)
    project = migrate.read(["main.py"], Config())
    done = by_running.by_running(project, Config(), folder, "main.py")
    assert done.result.passed and done.runs <= 5
    (change,) = done.outcome.changes
    assert "* table(x.shape[0], x.device).to(x.device)\n" in change.after.decode()


NAMED = """\
import sys

import torch
from torch import nn

import zoo

torch.manual_seed(0)
net = eval(sys.argv[1])(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    loss = nn.functional.mse_loss(net(torch.randn(3, 4)), torch.randn(3, 2))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item() > 0)
"""
ZOO = """\
from torch import nn


class Net(nn.Module):
    def __init__(self, size, out):
        super().__init__()
        self.fc = nn.Linear(size, out)
        self.scale = 2.0

    def forward(self, x):
        return self.fc(x) * self.scale
"""


@pytest.mark.torch
@pytest.mark.parametrize("program", ["main.py zoo.Net", "main.py nn.Linear"])
def test_a_model_is_converted_whose_class_only_a_run_shows(folder: Path, program: str) -> None:
    pytest.importorskip("torch")
    (folder / "main.py").write_text(NAMED)
    (folder / "zoo.py").write_text(ZOO)
    project = migrate.read(["."], Config())
    done = by_running.by_running(project, Config(), folder, program)
    assert done.result.passed
    (change,) = done.outcome.changes
    assert "net = eval(sys.argv[1])(4, 2).to(device)\n" in change.after.decode()
    assert by_running.proved(done.outcome, folder, program).passed


@pytest.mark.torch
def test_all_runs_together_keep_the_limit_of_time(folder: Path) -> None:
    pytest.importorskip("torch")
    (folder / "main.py").write_text(PICKLED + "while True:\n    pass\n")
    project = migrate.read(["main.py"], Config())
    settings = Settings(limits=Limits(seconds=20))
    done = by_running.by_running(project, Config(), folder, "main.py", settings)
    assert done.result.status == "time" and done.seconds < 30
    assert done.withheld and not done.outcome.changes


@pytest.mark.torch
def test_a_run_without_the_device_decides_nothing(folder: Path) -> None:
    pytest.importorskip("torch")
    # What trains is handed to code that stays unknown, whatever a run sees.
    (folder / "main.py").write_text(
        "import torch\n\n"
        "train = eval('lambda net: net(torch.ones(2, 3)).sum().backward()')\n"
        "train(torch.nn.Linear(3, 1))\n"
    )
    project = migrate.read(["main.py"], Config())
    done = by_running.by_running(project, Config(), folder, "main.py")
    assert done.result.passed and not by_running.used_device(done.result)
    assert done.decided == 0 and not done.outcome.changes
