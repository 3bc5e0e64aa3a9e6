"""What nobody is seen to hand in is told where it meets the device, and keeps nothing back."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from typer.testing import CliRunner

from samedevice.cli import app
from samedevice.migration.check import check
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project

PLACED = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 2).to(device)
weight = torch.ones(3, 2, device=device)
"""


def left(text: str) -> list[str]:
    findings = check(Project([source.from_text(text, "main.py")]), Config())
    assert all(one.left_to_callers and one.level == "note" for one in findings)
    assert all(one.rule == "undecided" and one.fix is None for one in findings)
    return [one.message for one in findings]


@pytest.mark.parametrize(
    ("function", "name"),
    [
        ("def predict(x):\n    return model(x)", "x"),
        ("def predict(x):\n    return model(x.float()[None])", "x"),
        ("def predict(*, x):\n    return model(x)", "x"),
        ("def predict(x):\n    return x @ weight", "x"),
        ("def chosen(rows, x):\n    return rows[model(x.to(device)).argmax(1)]", None),
        ("def inner(x):\n    return model(x)\ndef outer(y):\n    return inner(y)", "x"),
        ("def inner(x):\n    return model(x)\ndef outer(y):\n    return inner(y.to(device))", None),
        ("def score(net, x):\n    net.eval()\n    return net(x.to(device))", "net"),
        ("def score(act, x):\n    return act(x.to(device))", None),  # any function
        ("def predict(x):\n    return model(x.to(device))", None),
        ("def predict(x):\n    return weight[x]", None),  # an index may be anywhere
        ("def scaled(x):\n    return weight * x", None),  # a number, perhaps
        ("def scaled(x: torch.Tensor):\n    return weight * x", "x"),
        ("def follows(net, x):\n    net.eval()\n    return net(x)", None),
        ("def follows(x, w):\n    return x @ w + torch.ones_like(x)", None),
        ("def named(text):\n    print(text, model)", None),
        ("def predict(x):\n    return model(x)\npredict(torch.ones(1, 3, device=device))", None),
    ],
)
def test_a_parameter_that_meets_what_the_program_placed(function: str, name: str | None) -> None:
    found = left(f"{PLACED}\n\n{function}\n")
    assert [f"no call that could be followed gives `{name}`" in one for one in found] == (
        [True] if name else []
    )


HELD = """
class Agent:
    def __init__(self):
        self.net = nn.Linear(3, 2){moved}

    def act(self, obs):
        return self.net(obs){made}

    @staticmethod
    def act_with(net, obs):
        return net(obs)

    def act_there(self, obs):
        return self.net(obs.to(device))
"""


@pytest.mark.parametrize("made", ["", "\n\n\nagent = Agent()"], ids=["unmade", "made"])
def test_a_method_of_an_object_that_holds_its_model(made: str) -> None:
    (told,) = left(PLACED + HELD.format(moved=".to(device)", made="") + made)
    assert told.startswith("`obs` is used on the device")


def test_what_nothing_puts_anywhere_is_decided() -> None:
    text = PLACED + HELD.format(moved="", made="")
    assert not left(text[: text.index("    def act_there")])


def test_a_method_of_a_module_suits_wherever_the_module_is() -> None:
    module = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 2)
        def forward(self, x):
            return self.layer(x)
        def sample(self, z):
            return self.layer(z + torch.ones(3, device=z.device))
    net = Net().to(device)
    net(torch.ones(1, 3, device=device))
    """
    assert not left(PLACED + dedent(module))


TRAINED = """\
import torch
from torch import nn

model = nn.Linear(3, 2)
loss = model(torch.ones(1, 3)).sum()
loss.backward()


def predict(x):
    return model(x)
"""


def _run(*args: str) -> list[str]:
    result = CliRunner().invoke(app, [*args, "--no-cache"])
    assert result.exit_code in (0, 1)
    return result.stderr.splitlines()


def test_no_conversion_waits_for_callers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.py").write_text(TRAINED)
    (line,) = _run("fix", "--yes")
    assert line.startswith("1 file changed (")
    assert line.endswith(
        "; 1 undecided (1 left to callers): main.py:12 (`samedevice check --undecided` lists them)"
    )
    assert _run("check") == [
        "no findings in 1 file",
        "3 values placed, 1 undecided (1 left to callers): main.py:12"
        " (`samedevice check --undecided` lists them)",
    ]


def test_what_a_conversion_would_wait_for_is_named_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    gap = f"{PLACED}import rows\n\n\ndef predict(x):\n    return model(x)\n\n\nmodel(rows.load())\n"
    Path("main.py").write_text(gap)
    assert _run("check", "--undecided")[-1] == (
        "3 values placed, 2 undecided (1 left to callers): main.py:14, main.py:11"
    )


def test_the_mark_is_kept_by_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.py").write_text(TRAINED)
    for _ in range(2):
        result = CliRunner().invoke(app, ["check"])
        assert "(1 left to callers)" in result.stderr
