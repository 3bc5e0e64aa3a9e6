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


@pytest.mark.parametrize("kind", ["cuda", "accelerator", "xla"])
def test_a_new_one(kind: str) -> None:
    assert fix("--resolver", kind).exit_code == 0
    text = Path("train.py").read_text()
    assert ("torch.accelerator" in text) is (kind == "accelerator")
    assert ("torch_xla" in text) is (kind == "xla")
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
    assert fix("--resolver", "utils:pick").stderr == (
        "nothing to change in 2 files\n"
        "train.py stays on the CPU: it asks for the CPU itself (train.py:7)\n"
    )
    assert runs()


TWO_FILES = """\
import torch

import train

train.main()
print(torch.zeros(3) + torch.ones(3).cuda())
"""


def test_a_module_for_xla_serves_machines_without_it() -> None:
    Path("run.py").write_text(TWO_FILES)
    moved = TRAIN.replace("torch.ones(3, 2)", "torch.ones(3, 2).cuda()").replace(
        "2, 2)", "2, 2).cuda()"
    )
    Path("train.py").write_text(moved.replace("\n\nmain()\n", ""))
    fix("--resolver", "xla")
    assert "except ImportError" in Path("device.py").read_text()
    assert "from device import device\n" in Path("train.py").read_text()
    assert fix("--resolver", "xla").stderr == "nothing to change in 3 files\n"
    pytest.importorskip("torch")
    done = subprocess.run([sys.executable, "run.py"], capture_output=True, text=True)
    assert done.stdout == "torch.Size([3, 2])\ntensor([1., 1., 1.])\n", done.stderr


@pytest.mark.parametrize("asked", ["accelerator", "xla", "company.devices:pick"])
def test_what_is_asked_for_is_the_only_one(asked: str) -> None:
    there = 'device = torch.device("cpu" if not torch.cuda.is_available() else "cuda")\n'
    body = TRAIN.replace("nn.Linear(2, 2)", "nn.Linear(2, 2).to(device)")
    Path("train.py").write_text(body.replace("\n\n\ndef", f"\n\n{there}\n\ndef"))
    assert fix("--resolver", asked).exit_code == 0
    text = Path("train.py").read_text()
    assert text.count("device =") == 1 and "cuda" not in text
    assert text.count({"xla": "import_module", "accelerator": "current_"}.get(asked, "pick()")) == 1
    assert "device=device" in text


def test_or_it_is_refused_with_a_message() -> None:
    flag = "asks = torch.cuda.is_available()\n"
    there = 'device = torch.device("cuda" if asks else "cpu")\n'
    before = TRAIN.replace("\n\n\ndef", f"\n\n{flag}{there}\n\ndef", 1)
    Path("train.py").write_text(before)
    done = fix("--resolver", "company.devices:pick")
    assert done.exit_code == 1
    assert "cannot be told apart from CUDA" in done.output
    assert "company" not in Path("train.py").read_text()  # two resolvers are worse than one


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


RUNTIME = """\
import torch

accelerator = torch.accelerator.is_available()
device = torch.accelerator.current_accelerator() if accelerator else torch.device("cpu")
torch.cuda.synchronize()
torch.cuda.empty_cache()
print(torch.ones(2, device=device).sum().item(), torch.cuda.memory_allocated() == 0)
"""


@pytest.mark.parametrize(("floor", "memory"), [("2.6", False), ("2.8", False), ("2.9", True)])
def test_no_name_is_written_that_the_oldest_torch_lacks(floor: str, memory: bool) -> None:
    Path("train.py").write_text(RUNTIME)
    Path("requirements.txt").write_text(f"torch>={floor}\n")
    fix()
    text = Path("train.py").read_text()
    assert "torch.accelerator.synchronize()" in text
    assert ("torch.accelerator.empty_cache()" in text) is memory
    assert ("torch.accelerator.memory_allocated()" in text) is memory


SPAWN = """\
import torch
import torch.multiprocessing as mp


def work(rank):
    print(torch.ones(2).cuda(rank))


if __name__ == "__main__":
    mp.spawn(work, nprocs=torch.cuda.device_count())
"""


def test_a_process_where_there_is_no_gpu_is_asked_for() -> None:
    Path("train.py").write_text(SPAWN)
    fix()
    text = Path("train.py").read_text()
    assert 'device = torch.device(f"cuda:{rank}" if torch.cuda.is_available() else "cpu")' in text
    assert "nprocs=max(torch.cuda.device_count(), 1))" in text


HIDES = 'os.environ["CUDA_VISIBLE_DEVICES"] = "1"'
ASKS = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")'


@pytest.mark.parametrize("where", ["in the file", "in a function", "behind the user's choice"])
def test_a_program_that_hides_gpus_from_itself_asks_for_one_behind_that(where: str) -> None:
    text = TRAIN.replace("import torch\n", "import os\nimport torch\n")
    text = text.replace("nn.Linear(2, 2)", "nn.Linear(2, 2).cuda()")
    if where == "in the file":
        text = text.replace("\n\n\ndef", f"\n\n{HIDES}\n\n\ndef")
    elif where == "in a function":
        text = text.replace("main():\n", f"main():\n    {HIDES}\n")
    else:
        text = text.replace("import os\n", "import argparse\nimport os\n")
        parsed = "    parser = argparse.ArgumentParser()\n"
        parsed += '    parser.add_argument("--cuda", action="store_true")\n'
        parsed += f"    args = parser.parse_args()\n    if args.cuda:\n        {HIDES}\n"
        text = text.replace("main():\n", f"main():\n{parsed}")
        text = text.replace(".cuda()\n", "\n    if args.cuda:\n        model.cuda()\n")
    Path("train.py").write_text(text)
    fix()
    after = Path("train.py").read_text()
    assert 0 < after.index(HIDES) < after.index(ASKS[: ASKS.index(" if ")])
    assert ".cuda()" not in after


def test_a_resolver_that_another_file_gets_in_the_same_round_is_taken() -> None:
    """What is given a word is found late: its file takes what the other one gets."""
    Path("shift.py").write_text(
        "import torch\n\n\nclass Shift:\n    def __init__(self):\n"
        "        self.direction = torch.ones(3, 2).cuda()\n"
    )
    Path("work.py").write_text(
        "import torch\n\n\ndef each(names, device='cuda'):\n"
        "    return [torch.ones(3, 2).to(device) for _ in names]\n\n\n"
        "def evaluate(names, device=None):\n    kinds = {'one': each}\n"
        "    return kinds['one'](names, device)\n"
    )
    Path("train.py").write_text(
        "import torch\nfrom shift import Shift\nfrom work import evaluate\n\n\n"
        "def main():\n    found = evaluate(['a'], device='cuda')\n"
        "    print((Shift().direction + found[0]).shape)\n\n\nmain()\n"
    )
    fix()
    for name in "shift.py", "train.py":
        assert "from device import device\n" in Path(name).read_text()
    assert runs()


def test_no_file_of_a_program_that_hides_gpus_asks_for_one_on_import() -> None:
    Path("train.py").write_text(
        "import os\nimport torch\nfrom data import noise\nfrom net import Net\n\n\n"
        f"def score(model):\n    return model(noise()).shape\n\n\ndef main():\n    {HIDES}\n"
        "    model = Net().cuda()\n    print(score(model))\n\n\nmain()\n"
    )
    Path("data.py").write_text(
        "import torch\n\n\ndef noise():\n    return torch.rand(3, 2).cuda()\n"
    )
    Path("net.py").write_text(
        "from torch import nn\n\n\nclass Net(nn.Linear):\n"
        "    def __init__(self):\n        super().__init__(2, 2)\n"
    )
    fix()
    assert not Path("device.py").exists()
    assert "def noise(device=None):\n    return torch.rand(3, 2).to(device)" in (
        Path("data.py").read_text()
    )
    after = Path("train.py").read_text()
    assert f"    {HIDES}\n    {ASKS}\n    model = Net().to(device)\n" in after
    assert "def score(model):\n    device = next(model.parameters()).device\n" in after
    assert runs()


def test_a_helper_that_is_handed_tuples_and_calls_itself_is_handed_the_device() -> None:
    Path("train.py").write_text(
        "import argparse\nimport torch\nfrom data import there\n\n\n"
        "def step(sample):\n    x = there(sample[0])\n    y = there(sample[1])\n"
        "    return (x * y).sum() + there({'bias': x})['bias'].sum()\n\n\n"
        "def main():\n    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('--cuda', action='store_true')\n"
        "    args = parser.parse_args()\n"
        "    print(step((torch.ones(3), torch.ones(3))))\n\n\nmain()\n"
    )
    Path("data.py").write_text(
        "import torch\n\n\ndef there(given):\n    if isinstance(given, dict):\n"
        "        return {key: there(value) for key, value in given.items()}\n"
        "    return given.cuda() if torch.cuda.is_available() else given\n"
    )
    fix("--extend-select", "cuda-branch")
    assert "{key: there(value, device=device) for key" in Path("data.py").read_text()
    after = Path("train.py").read_text()
    assert "sample.device" not in after
    assert "step((torch.ones(3), torch.ones(3)), device=args.device)" in after


def test_scripts_in_a_folder_with_an_init_share_one_resolver() -> None:
    Path("__init__.py").write_text("")
    Path("parts").mkdir()
    Path("parts/__init__.py").write_text("from .noise import noise\n")
    Path("parts/noise.py").write_text(
        "import torch\n\n\ndef noise():\n    return torch.rand(3, 2).cuda()\n"
    )
    text = TRAIN.replace("from torch", "from parts import noise\nfrom torch", 1)
    Path("train.py").write_text(text.replace("torch.ones(3, 2)", "noise()"))
    fix()
    assert Path("device.py").exists()
    for name in "train.py", "parts/noise.py":
        assert "\nfrom device import device\n" in Path(name).read_text()
        assert "is_available" not in Path(name).read_text()
    assert runs()


def test_a_module_that_nobody_uses_chooses_for_nobody() -> None:
    Path("layers.py").write_text(
        "import torch\nfrom torch import nn\n\n\ndef identity(x):\n    return x\n\n\n"
        "class Grid(nn.Module):\n    def __init__(self, cuda=True):\n"
        "        super().__init__()\n        self.use_cuda = cuda\n\n"
        "    def forward(self, x):\n        grid = torch.ones(x.size())\n"
        "        if self.use_cuda:\n            grid = grid.cuda()\n        return x + grid\n"
    )
    text = TRAIN.replace("from torch", "from layers import identity\nfrom torch", 1)
    Path("train.py").write_text(text.replace("nn.Linear(2, 2)", "identity(nn.Linear(2, 2)).cuda()"))
    fix()
    assert "identity(nn.Linear(2, 2)).to(device)" in Path("train.py").read_text()


def test_a_resolver_is_where_all_that_use_it_are() -> None:
    Path("train.py").write_text(
        "import argparse\nimport torch\nfrom net import Net, load\n\n"
        "parser = argparse.ArgumentParser()\n"
        'parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")\n'
        "args = parser.parse_args()\n"
        "model = load(1).to(args.device)\n"
        "print(model(torch.ones(1, 2, device=args.device)))\n"
    )
    Path("net.py").write_text(
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Linear):\n    pass\n\n\n"
        'def load(path):\n    return Net(2, 2)\n\n\nif __name__ == "__main__":\n'
        '    net = Net(2, 2).to("cuda")\n    print(net(torch.ones(1, 2).to("cuda")))\n'
    )
    Path("tools").mkdir()
    for name in ("look", "attack", "export"):
        Path("tools", f"{name}.py").write_text(
            "import torch\n\nfrom net import load\n\nmodel = load(1).cuda()\n"
            "print(model(torch.ones(1, 2).cuda()))\n"
        )
    fix()
    assert "def get_device" in Path("device.py").read_text()
    assert "from device import device" in Path("tools/look.py").read_text()
    assert not Path("tools/device.py").exists()
