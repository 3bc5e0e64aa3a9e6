"""What the code of a file shows about what it is for."""

from __future__ import annotations

import ast

import pytest

from samedevice.inference.checks import Checks, checks
from samedevice.inference.doings import doings

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
