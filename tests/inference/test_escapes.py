"""A program for the CPU is converted only if nothing that would move leaves what can be read."""

from __future__ import annotations

from textwrap import indent

import pytest

from samedevice.migration.check import check
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project

PROGRAM = """\
import logging
import queue
import sys

import numpy as np
import torch
from scipy.optimize import minimize
from torch import nn

import library
{top}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 8), nn.Linear(8, 2)])

    def forward(self, x):
        return self.layers[1](self.layers[0](x))


def main():
    global MODEL
    MODEL = model = Net()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(3):
        loss = model(torch.randn(8, 4)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    out = model(torch.randn(2, 4)).detach()
    x = library.read()
    row = torch.randn(1, 4)
{body}


if __name__ == "__main__":
    main()
"""
PINNED = """\
import torch
from torch import nn

import library

device = torch.device("cpu")
{body}
"""


def undecided(text: str) -> list[str]:
    findings = check(Project([source.from_text(text, "main.py")]), Config())
    return [one.message for one in findings if one.rule == "undecided" and not one.left_to_callers]


def converted(body: str, top: str = "") -> bool:
    """Tell whether all that is found in a program for the CPU is repaired by a safe fix."""
    text = PROGRAM.format(top=top, body=indent(body, "    "))
    findings = check(Project([source.from_text(text, "main.py")]), Config())
    moving = [one for one in findings if one.rule == "module-not-moved"]
    assert moving
    assert bool(undecided(text)) != all(one.fix and one.fix.safe for one in moving)
    return not undecided(text)


@pytest.mark.parametrize(
    ("body", "top"),
    [
        ("library.report(out)", ""),
        ("library.report({'out': [out]})", ""),
        ("print(library.mean(a=out))", ""),
        ("library.Thing().feed(out)", ""),
        ("library.get()(out)", ""),
        ("CALLS[sys.argv[1]](out)", "CALLS = {'a': library.a, 'b': library.b}"),
        ("thing = library.Thing()\nthing.out = out", ""),
        ("library.table()['out'] = out", ""),
        ("library.Options().register(model=model)", ""),
        ("library.minimize(lambda z: model(z).sum().item())", ""),
        ("layers = getattr(model, sys.argv[1])\nprint(layers[0](row))", ""),
        ("library.plot([loss.detach(), loss.detach()])", ""),  # a list of them is made an array
        ("library.show(model.layers[0].weight.detach())", ""),
        ("print(out + library.positions()[:2])", ""),  # no number has slices
        ("print(out @ library.basis())", ""),
        ("model.layers[0].forward = library.forward", ""),
        ("if out.is_cuda:\n    out = out * 2\nprint(out)", ""),
        ("assert out.device.type == 'cpu'", ""),
        ("print(eval('model(row)'))", ""),
        ("print(eval(sys.argv[1]))", ""),
        (
            "library.serve(predict)",
            "def predict(image):\n    return MODEL(library.transform(image)).tolist()",
        ),
        ("library.run()", "@library.route('/')\ndef predict():\n    return MODEL(library.row())"),
        (
            "Step(model).fit()",
            "class Step(library.Base):\n    def __init__(self, net):\n        self.net = net\n\n"
            "    def step(self, batch):\n        return self.net(batch)",
        ),
    ],
)
def test_what_escapes_keeps_a_program_on_the_cpu(body: str, top: str) -> None:
    assert not converted(body, top)


@pytest.mark.parametrize(
    ("body", "top"),
    [
        ("print(out)", ""),
        ("library.log(loss.item(), loss)", ""),  # one element is read from anywhere
        ("library.show(out.cpu().numpy())", ""),
        ("library.log({'loss': loss})", ""),
        ("print(out * library.factor())", ""),
        ("if out.is_cuda:\n    out = out.cpu()\nprint(out)", ""),
        ("logging.getLogger(__name__).info('%s', out)", ""),
        ("library.Lamb(model.parameters(), lr=1).step()", ""),
        ("library.table().load_state_dict(out)", ""),
        ("tasks = queue.Queue()\ntasks.put(out)", ""),
        ("minimize(lambda z: model(torch.tensor(z)).sum().item(), np.zeros(4))", ""),
        ("library.minimize(lambda z: z + 1)", ""),
        ("print(eval('loss + 1'))", ""),
        ("print(getattr(model, 'layers')[0](row))", ""),
        ("predict(row)", "@torch.no_grad()\ndef predict(x):\n    return MODEL(x)"),
    ],
)
def test_what_stays_in_sight_keeps_nothing_back(body: str, top: str) -> None:
    assert converted(body, top)


@pytest.mark.parametrize(
    "body",
    [
        "model = library.Net().to(device)\nprint(model(library.read()))",
        "model = library.load(device)\nprint(model(torch.ones(1, 4)))",
        "model = nn.Linear(4, 2).to(device)\nlibrary.evaluate(lambda x: model(x))",
        "bundle = library.Bundle(device)\nprint(bundle.predict(torch.ones(1, 4)))",
    ],
)
def test_a_device_that_escapes_keeps_its_name(body: str) -> None:
    text = PINNED.format(body=body)
    assert undecided(text)
    findings = check(Project([source.from_text(text, "main.py")]), Config())
    pinned = [one for one in findings if one.rule == "hard-coded-device"]
    assert all(one.fix is None or not one.fix.safe for one in pinned)


def test_what_code_moves_itself_may_go_to_what_it_was_written_for() -> None:
    body = (
        "model, x = nn.Linear(4, 2).to(device), torch.ones(1, 4).to(device)\nlibrary.run(model, x)"
    )
    text = PINNED.format(body=body).replace(
        "import library", "import importlib\nlibrary = importlib.import_module(str(torch))"
    )
    assert not undecided(text)
