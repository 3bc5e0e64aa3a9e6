"""All of a program runs without CUDA, or no edit serves that alone; a twin of each is repaired."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from samedevice.migration import migrate
from samedevice.reading.config import load

#: A flag that nobody sets decides on what is left.
FLAG = {
    "launch.py": """\
import torch

def start(work, no_cuda=False):
    if not no_cuda:
        torch.cuda.set_device(0)
        torch.set_default_tensor_type("torch.cuda.FloatTensor")
    work()
""",
    "main.py": """\
import torch
from launch import start

def work():
    net = torch.nn.Linear(4, 1).cuda()
    print(net(torch.ones(2, 4).cuda()))

if __name__ == "__main__":
    start(work)
""",
}
FLAG_SET = FLAG | {"main.py": FLAG["main.py"].replace("start(work)", "start(work, no_cuda=True)")}

#: One process or many: both begin with what is left.
ARMS = FLAG | {
    "main.py": """\
import sys
import torch
import torch.multiprocessing as mp
from launch import start

def work():
    net = torch.nn.Linear(4, 1).cuda()
    print(net(torch.ones(2, 4).cuda()))

def run(no_cuda=False):
    if len(sys.argv) > 1:
        mp.spawn(start, args=(no_cuda,), nprocs=2)
    else:
        start(work, no_cuda)

if __name__ == "__main__":
    run()
""",
    "launch.py": FLAG["launch.py"],
}
ONE_ARM = ARMS | {
    "main.py": ARMS["main.py"].replace("        mp.spawn", "        print()  # mp.spawn")
}

#: A flag at the top of a script, for its user to change.
SWITCH = {
    "fit.py": """\
import torch

def fit(net, batches, cuda, index=0):
    for step, batch in enumerate(batches):
        with torch.no_grad():
            if cuda:
                batch = batch.cuda(index)
        net(batch)
""",
    "main.py": """\
import os
import torch
from fit import fit

cuda = True

if __name__ == "__main__":
    index = 0
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if "RANK" in os.environ:
        torch.distributed.init_process_group(backend="nccl")
        index = int(os.environ["LOCAL_RANK"])
        device = torch.device("cuda", index)
    net = torch.nn.Linear(4, 1)
    if cuda:
        if "RANK" in os.environ:
            net = torch.nn.parallel.DistributedDataParallel(net.cuda(index), device_ids=[index])
        else:
            net = net.cuda()
    fit(net, torch.utils.data.DataLoader(torch.ones(2, 4)), cuda, index)
""",
}
ASKED = SWITCH | {
    "main.py": """\
import torch
from fit import fit

cuda = True

if __name__ == "__main__":
    net = torch.nn.Linear(4, 1).cuda()
    fit(net, [torch.ones(2, 4)], cuda, 0)
"""
}

#: What a script does after it looked whether there is anything to do.
NOTHING_TO_DO = {
    "main.py": """\
import sys
import torch
import helper

def main():
    net = torch.nn.Linear(4, 1).cuda()
    if not sys.argv:
        return
    helper.work(net)

main()
""",
    "helper.py": """\
import torch

def work(net):
    size = torch.cuda.get_device_properties(0).total_memory // 2
    return net, size
""",
}

#: What is left stands in the same function, in another branch.
OTHER_BRANCH = {
    "main.py": """\
import sys
import torch

def main():
    start = torch.cuda.Event(enable_timing=True)
    start.record()
    if sys.argv[1:]:
        size = torch.cuda.get_device_properties(0).total_memory // 2
        return size
    print("done")

main()
"""
}

#: `autocast` does nothing where there is no CUDA.
AUTOCAST = {
    "main.py": """\
import sys
import torch

def main():
    net = torch.nn.Linear(4, 1).cuda()
    if sys.argv[1:]:
        with torch.autocast(device_type="cuda", enabled=len(sys.argv) > 2):
            print("fast")
    print(net(torch.ones(2, 4).cuda()))

main()
"""
}

#: Several processes: what one tells the others is on the GPU.
TALKING = {
    "main.py": """\
import os
import torch
import torch.distributed as dist

def gather(data):
    if dist.get_world_size() == 1:
        return [data]
    free = torch.cuda.get_device_properties(0).total_memory // 2
    sizes = [None for _ in range(dist.get_world_size())]
    dist.all_gather_object(sizes, (data, free))
    return sizes

def main():
    if "RANK" in os.environ:
        gpu = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(gpu)
        dist.init_process_group(backend="nccl")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = torch.nn.Linear(4, 1).to(device)
    print(gather(net))

main()
"""
}


def _migrated(folder: Path, files: dict[str, str]) -> migrate.Outcome:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    config = load([str(folder)])
    return migrate.migrate(migrate.read([str(folder)], config), config)


#: A module that a folder of a package compiles for CUDA, and a script that tries it out.
EXTENSION = {
    "ops/__init__.py": "",
    "ops/setup.py": """\
from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension

setup(name="_cuda_ext", ext_modules=[CUDAExtension("_cuda_ext", ["a.cu"])])
""",
    "ops/distance.py": """\
import torch
from ._cuda_ext import distance

class Distance(torch.autograd.Function):
    @staticmethod
    def forward(ctx, offset, points):
        found = torch.zeros(points.shape[0], device="cuda")
        distance(offset, points, found)
        return found + offset.sum()
""",
    "main.py": """\
import torch
from ops.distance import Distance

dtype = torch.cuda.FloatTensor

if __name__ == "__main__":
    offset = torch.zeros(3).type(dtype)
    net = torch.nn.Linear(3, 3).cuda()
    print(Distance.apply(net(offset), torch.rand(4, 3).cuda()))
""",
}
WITHOUT_EXTENSION = EXTENSION | {
    "ops/distance.py": EXTENSION["ops/distance.py"]
    .replace("from ._cuda_ext import distance\n", "")
    .replace("        distance(offset, points, found)\n", "")
}
#: A library's model that goes to a GPU by its number.
NUMBERED = {
    "main.py": """\
import torch
from transformers import AutoModelForCausalLM

device = 0
model = AutoModelForCausalLM.from_pretrained("a", device_map={"": device})
ids = torch.ones(1, 4, dtype=torch.long).to("cuda")
print(model(ids).logits.shape)
""",
}
AUTOMATIC = {"main.py": NUMBERED["main.py"].replace('{"": device}', '"auto"')}


def test_a_module_of_its_package_is_built_for_cuda(tmp_path: Path) -> None:
    outcome = _migrated(tmp_path, EXTENSION)
    assert [Path(change.path).name for change in outcome.changes] == ["distance.py"]
    assert "device=offset.device" in outcome.sources[str(tmp_path / "ops" / "distance.py")].text
    assert any("imports ._cuda_ext, which is built" in why for why in outcome.refused.values())
    outcome = _migrated(tmp_path / "twin", WITHOUT_EXTENSION)
    assert "main.py" in [Path(change.path).name for change in outcome.changes]


def test_a_model_on_a_gpu_by_its_number(tmp_path: Path) -> None:
    outcome = _migrated(tmp_path, NUMBERED)
    assert not outcome.changes
    assert any("on a GPU by its number" in why for why in outcome.refused.values())
    assert _migrated(tmp_path / "twin", AUTOMATIC).changes


@pytest.mark.parametrize("files", [FLAG, ARMS, SWITCH, NOTHING_TO_DO, OTHER_BRANCH, TALKING])
def test_no_half(tmp_path: Path, files: dict[str, str]) -> None:
    outcome = _migrated(tmp_path, files)
    assert not outcome.changes
    assert any("is not repaired, and needs CUDA" in why for why in outcome.refused.values())


@pytest.mark.parametrize("files", [FLAG_SET, ONE_ARM, ASKED, AUTOCAST])
def test_a_program_that_may_do_without(tmp_path: Path, files: dict[str, str]) -> None:
    outcome = _migrated(tmp_path, files)
    assert any(Path(change.path).name == "main.py" for change in outcome.changes)
    text = outcome.sources[str(tmp_path / "main.py")].text
    assert ".cuda()" not in text


def test_a_notebook_that_may_have_imported_torch(tmp_path: Path) -> None:
    """An import in a `try` may have come to nothing: the device is asked for below another one."""
    cells = [
        "try:\n    import google.colab, torch, os\nexcept ModuleNotFoundError:\n    pass",
        "import torch\nfrom torch import nn",
        "net = nn.Linear(4, 1).to('cuda')\nnet(torch.ones(2, 4).to('cuda'))",
    ]
    path = tmp_path / "a.ipynb"
    code = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": n, "source": cell}
        for n, cell in enumerate(cells, 1)
    ]
    path.write_text(json.dumps({"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    config = load([str(tmp_path)])
    outcome = migrate.migrate(migrate.read([str(tmp_path)], config), config)
    (change,) = outcome.changes
    after = json.loads(change.after)["cells"]
    assert "device = " not in "".join(after[0]["source"])
    assert "device = torch.device(" in "".join(after[1]["source"])
