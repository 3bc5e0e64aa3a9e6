"""What the code of a file shows about what it is for."""

from __future__ import annotations

import ast
import json

import pytest

from samedevice.inference.checks import Checks, checks
from samedevice.inference.demonstrations import is_toy
from samedevice.inference.doings import doings
from samedevice.inference.of_gpus import about_gpus
from samedevice.reading import source
from samedevice.reading.project import Project

MODEL = """\
import torch
from model import Net, evaluate, show

net = Net()
net.eval()
out = net(torch.ones(2, 3))
"""


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("print(out.shape)", Checks.LOOKS),
        ("print(f'{out.mean():.3f}', out.dtype)", Checks.LOOKS),
        ("assert torch.isfinite(out).all()", Checks.ASSERTS),
        ("again = net(torch.ones(2, 3))\nassert torch.allclose(out, again)", Checks.ASSERTS),
        ("apart = (out - net(torch.zeros(2, 3))).abs().max()\nassert apart < 1", Checks.ASSERTS),
        ("def near(x, y):\n    assert torch.equal(x, y)\n\nnear(out, out)", Checks.ASSERTS),
        (
            "out.sum().backward()\nassert net.weight.grad is not None\nassert out.any()",
            Checks.ASSERTS,
        ),
        ("print(out)", Checks.NOT),
        ("print(out.shape, out.argmax(dim=1))", Checks.NOT),
        ("print(out.shape)\ntorch.save(out, 'out.pt')", Checks.NOT),
        ("print(out.shape)\nkept = {}\nkept['out'] = out", Checks.NOT),
        ("print(out.shape)\nshow(out)", Checks.NOT),
        ("print(out.shape)\nevaluate(net)", Checks.NOT),
        ("target = torch.ones(2)\nprint(out.shape, (out == target).float().mean())", Checks.NOT),
        ("def use():\n    return net(torch.ones(2, 3))\n\nprint(out.shape)", Checks.NOT),
    ],
)
def test_what_becomes_of_what_a_module_gives(code: str, how: Checks) -> None:
    assert checks(ast.parse(f"{MODEL}{code}\n")) is how


TIMED = (
    "import time\nfrom work import train\n\nstart = time.time()\n{}\nspent = time.time() - start\n"
)


@pytest.mark.parametrize(
    ("code", "times"),
    [
        ("net(x)", True),
        ("for _ in range(3):\n    _ = net(x)", True),
        ("out = net(x)", False),
        ("train(net, x)", False),
        ("finish()", False),
        ("results.append(net(x))", False),
    ],
)
def test_what_is_thrown_away_between_two_readings_of_a_clock(code: str, times: bool) -> None:
    assert doings(ast.parse(TIMED.format(code))).times is times


@pytest.mark.parametrize(("kinds", "cpu"), [("[A.CPU]", True), ("[A.CPU, A.CUDA]", False)])
def test_what_is_profiled(kinds: str, cpu: bool) -> None:
    listed = kinds.replace("A.", "torch.profiler.ProfilerActivity.")
    code = f"import torch\n\nwith torch.profiler.profile(activities={listed}):\n    pass\n"
    assert doings(ast.parse(code)).profiles is cpu


GPU = "import time\nimport torch\n\nx = torch.ones(8, 8)\n"
TIMED_THERE = "start = time.time()\nnet(x)\ntorch.cuda.synchronize()\nspent = time.time() - start\n"


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("print(torch.cuda.get_device_name(0), x.cuda().sum())", "tries"),
        ("stream = torch.cuda.Stream()\nx.cuda()", "shows"),
        ("x.pin_memory().cuda(non_blocking=True)", "shows"),
        (f"net = make_net().cuda()\n{TIMED_THERE}", "measures"),
        (f"net = make_net()\nd = 'cpu'\n{TIMED_THERE}", ""),
        (f"net = make_net()\n{TIMED_THERE}optimizer.zero_grad()", ""),
        ("x.pin_memory()\nprint(torch.cuda.is_available())", ""),
        ("x.pin_memory()\nclass Net: pass", ""),
        ("x.pin_memory()\ny = torch.load('y.pt')", ""),
        ("x.cuda()", ""),
    ],
)
def test_what_is_about_the_gpu(code: str, word: str) -> None:
    said = about_gpus(ast.parse(GPU + code))
    assert word in said and bool(said) == bool(word)


LEARNED = """\
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("some/model")
model = AutoModel.from_pretrained("some/model")
found = model(**tokenizer(["one", "two"], return_tensors="pt"))
"""


@pytest.mark.parametrize(
    ("path", "code", "only_tries"),
    [
        ("test_model.py", f"{LEARNED}print(found[0])", True),
        ("show_model.py", f"{LEARNED}print(found[0])", False),
        ("test_model.py", f"{LEARNED}print(found[0])\nopen('kept', 'w').write('found')", False),
        ("test_model.py", f"{LEARNED}for each in found:\n    print(model(each))", False),
        ("test_model.py", f"{LEARNED}print(found[0].to('cuda'))", False),
    ],
)
def test_a_script_that_tries_what_was_learned(path: str, code: str, only_tries: bool) -> None:
    assert is_toy(Project([source.from_text(code, path)]), path) is only_tries


@pytest.mark.parametrize(
    ("code", "only_tries"),
    [
        ("y = net(torch.FloatTensor(1, 3))\nprint(y[0])", True),
        ("y = net(torch.ones(1, 3))\nprint(y[0])", True),
        ("y = net(torch.FloatTensor(1, 3))\ny.sum().backward()", False),
        ("y = net(torch.load('y.pt'))\nprint(y)", False),
    ],
)
def test_a_lesson_in_a_notebook(code: str, only_tries: bool) -> None:
    text = f"import torch\nfrom torch import nn\n\nnet = nn.Linear(3, 1)\n{code}\n"
    cell = {"cell_type": "code", "source": text.splitlines(keepends=True), "outputs": []}
    notebook = {"nbformat": 4, "metadata": {}, "cells": [cell]}
    read = source.from_bytes(json.dumps(notebook).encode(), "lesson.ipynb")
    assert is_toy(Project([read]), "lesson.ipynb") is only_tries
