"""What could not be followed is counted, and keeps a program for the CPU from being converted."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest

from samedevice.finding import Finding
from samedevice.migration.check import check
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project

HEAD = """\
import importlib
import torch
from torch import nn

maker = importlib.import_module("torch".lower())
model = nn.Linear(3, 2)
"""
DEVICE = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\nmodel.to(device)\n'


def found(text: str) -> list[Finding]:
    return check(Project([source.from_text(HEAD + dedent(text), "main.py")]), Config())


@pytest.mark.parametrize("device", ["", DEVICE], ids=["for the CPU", "with a device"])
def test_an_unknown_value_that_meets_the_device_is_a_note(device: str) -> None:
    findings = found(device + "print(model(maker.ones(1, 3)).sum())\n")
    (note,) = [one for one in findings if one.rule == "undecided"]
    assert note.level == "note"
    assert "`maker.ones(1, 3)`" in note.message


def test_a_program_for_the_cpu_with_a_gap_is_not_converted_by_halves() -> None:
    findings = found("print(model(maker.ones(1, 3)) + model(torch.ones(1, 3)))\n")
    assert all(one.fix is None or "incomplete" in one.fix.reason for one in findings)
    findings = found("print(model(torch.ones(1, 3)).sum())\n")
    assert any(one.fix is not None and one.fix.safe for one in findings)


def test_the_program_that_decides_is_a_notebook_and_no_cell_of_it() -> None:
    code = HEAD + "(model(maker.ones(1, 3)) + model(torch.ones(1, 3))).sum().backward()\n"
    cell = {"cell_type": "code", "source": code, "metadata": {}, "outputs": []}
    cell["execution_count"] = None
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    findings = check(Project([source.from_text(text, "a.ipynb")]), Config())
    reasons = [one.fix.reason for one in findings if one.fix is not None]
    assert reasons and all('fix --run "a.ipynb"`' in reason for reason in reasons)


def test_what_a_forward_hands_on_is_told_where_it_comes_in() -> None:
    findings = found("""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 2)
            def forward(self, x):
                return self.layer(x)
        net = Net().to("cuda")
        net(maker.ones(1, 3))
    """)
    assert [one.span.line for one in findings if one.rule == "undecided"] == [15]


def test_what_a_function_is_given_is_told_where_it_is_used() -> None:
    findings = found(
        DEVICE + "def total(rows):\n    return model(rows).sum()\nprint(total(maker.ones(1, 3)))\n"
    )
    (note,) = [one for one in findings if one.rule == "undecided"]
    assert "`rows`" in note.message


def test_numbers_and_known_values_are_no_gap() -> None:
    findings = found(DEVICE + "x = torch.ones(1, 3, device=device)\nmodel(x * maker.pi)\n")
    assert not findings


TRAINED = """
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(3):
        x = torch.rand(4, 4)
        loss = {}
        loss.backward()
        optimizer.step()
    """


@pytest.mark.parametrize(
    "lines",
    [
        "from library import Solver\n" + dedent(TRAINED).format("Solver(model).loss(x)"),
        dedent(TRAINED).format("maker.compute(x) @ torch.rand(4, 4)"),
    ],
    ids=["handed to a library", "called out of sight"],
)
def test_data_without_the_model_is_told_and_stays(lines: str) -> None:
    findings = found(lines)
    assert [one.rule for one in findings] == ["undecided"]
    used = found(lines.replace("loss = ", "model(torch.ones(1, 3)); loss = "))
    assert any(one.rule == "undecided" for one in used)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('x = rows.load("a")["x"]\nmodel(x)\n', "nothing is known of what `rows.load` gives"),
        (
            "for x, y in rows.Reader():\n    model(x)\n",
            "nothing is known of what `rows.Reader` gives",
        ),
        (
            "held = {}\nexec(\"held['a'] = torch.ones(1, 3)\")\nmodel(held['a'])\n",
            "what `held` holds could not be followed",
        ),
    ],
)
def test_what_is_undecided_has_a_reason(text: str, reason: str) -> None:
    notes = [one for one in found("import rows\n" + DEVICE + text) if one.rule == "undecided"]
    assert [reason in one.message for one in notes] == [True]


def test_what_is_unpickled_and_called_is_told() -> None:
    code = "import pickle\nnet = pickle.load(open('net.pkl', 'rb'))\nnet(torch.ones(1, 3))\n"
    (note,) = [one for one in found(DEVICE + code) if one.rule == "undecided"]
    assert "was unpickled" in note.message
    assert not [one for one in found(DEVICE + code.replace("pickle.load", "print"))]


POOL = """\
import torch
from torch import nn


class Pool:
    def __init__(self):
        self.net = nn.Linear(2, 1)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.target = nn.Linear(2, 1)

    def learn(self, x):
        loss = (self.net(x) - self.target(x).detach()).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def act(self, x):
        return self.target(x).argmax().item()
"""
USES = "import torch\nfrom pool import Pool\n\nprint(Pool().{}(torch.ones(1, 2)))\n"


def test_a_script_that_does_not_train_leaves_nothing_open_for_one_that_does() -> None:
    texts = {"pool": POOL, "train": USES.format("learn"), "play": USES.format("act")}
    findings = check(
        Project(source.from_text(texts[name], f"{name}.py") for name in texts), Config()
    )
    assert {one.rule for one in findings} == {"module-not-moved", "tensor-without-device"}
    assert all(one.fix is not None and one.fix.safe for one in findings)
    del texts["train"]
    findings = check(
        Project(source.from_text(texts[name], f"{name}.py") for name in texts), Config()
    )
    assert "undecided" in {one.rule for one in findings}  # nobody trains it in sight
    assert "module-left-behind" not in {one.rule for one in findings}


MOVED = 'import sys\ndevice = torch.device("cuda")\nif sys.argv[1:]:\n    model.to(device)\n'


@pytest.mark.parametrize(
    ("moved", "given", "side"),
    [
        (MOVED, "torch.ones(1, 3)", "the CPU"),
        (MOVED, "torch.ones(1, 3, device=device)", "the device"),
        (MOVED + "model.to(device)\n", "torch.ones(1, 3, device=device)", None),
        (MOVED + "else:\n    model.to(device)\n", "torch.ones(1, 3, device=device)", None),
        (MOVED + "else:\n    raise SystemExit\n", "torch.ones(1, 3, device=device)", None),
    ],
)
def test_a_module_that_one_path_moves_is_told(moved: str, given: str, side: str | None) -> None:
    findings = found(f"{moved}print(model({given}).sum())\n")
    told = [one.message for one in findings if one.rule == "undecided"]
    rules = {one.rule for one in findings}
    assert not rules & {"tensor-without-device", "module-not-moved"}
    if side is None:
        assert not told
    else:
        (message,) = told
        assert f"on some paths only, and meets a value on {side}" in message


def test_what_settings_make_and_code_calls_is_told() -> None:
    code = "from hydra.utils import instantiate\nnet = instantiate(cfg.loss)\n"
    code = DEVICE + code + "net(torch.ones(1, 3, device=device))\n"
    (note,) = [one for one in found(code) if one.rule == "undecided"]
    assert "is made of settings, perhaps a module that nothing moves" in note.message
    assert not found(code.replace("loss)", "loss).to(device)"))
