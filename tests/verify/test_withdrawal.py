"""What is objected to is withdrawn with all that belongs to it, and with nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from samedevice import inference
from samedevice.migration import migrate
from samedevice.migration.check import check
from samedevice.reading.config import load
from samedevice.reading.project import Project

#: A device gets an index, which fails; `rollout` has no part in that device but by the data.
TWO_PARTS = """\
import torch

def rollout(model):
    x = {"a": torch.ones(2, 4)}["a"].to("cuda")
    return model(x)

def main():
    device_index = 0
    model = torch.nn.Linear(4, 1).to(torch.device("cuda", device_index))
    print(rollout(model).shape)
"""
#: Values that meet none of the others.
ELSEWHERE = """
def elsewhere():
    net = torch.nn.Linear(1, 1).cuda()
    return net(torch.ones(1, 1).cuda())

elsewhere()
"""


def _migrated(folder: Path, files: dict[str, str], unsafe: bool = False) -> migrate.Outcome:
    for name, text in files.items():
        (folder / name).write_text(text)
    config = replace(load([str(folder)]), unsafe=unsafe)
    return migrate.migrate(migrate.read([str(folder)], config), config)


def test_what_belongs_together_is_withdrawn_together(tmp_path: Path) -> None:
    outcome = _migrated(tmp_path, {"a.py": TWO_PARTS + "\nmain()\n"})
    assert not outcome.changes
    assert outcome.remaining
    reasons = {reason for reason in outcome.refused.values()}
    assert reasons == {
        "not applied, with the edits that belong to it: "
        "the device that would take its place is one already, and takes no index"
    }
    assert {finding.span.line for finding in outcome.remaining if finding.fix} == {4, 9}


def test_half_of_a_script_is_not_repaired(tmp_path: Path) -> None:
    outcome = _migrated(tmp_path, {"a.py": TWO_PARTS + "\nmain()\n" + ELSEWHERE})
    assert not outcome.changes
    assert "not applied: a.py:9 is not repaired, and needs CUDA" in outcome.refused.values()


def test_what_is_not_connected_is_repaired(tmp_path: Path) -> None:
    """A script that may do without what is left is made to run without it."""
    chosen = "\nimport sys\nif sys.argv[1:]:\n    main()\n"
    outcome = _migrated(tmp_path, {"a.py": TWO_PARTS + chosen + ELSEWHERE})
    (change,) = outcome.changes
    text = change.after.decode()
    assert "net = torch.nn.Linear(1, 1).to(" in text and ".cuda()" not in text
    assert 'torch.device("cuda", device_index)' in text and '["a"].to("cuda")' in text


def test_a_file_that_is_not_connected_is_repaired(tmp_path: Path) -> None:
    other = "import torch\nnet = torch.nn.Linear(1, 1).cuda()\nprint(net(torch.ones(1).cuda()))\n"
    outcome = _migrated(tmp_path, {"a.py": TWO_PARTS + "\nmain()\n", "b.py": other})
    assert [Path(change.path).name for change in outcome.changes] == ["b.py"]


#: The tensor that two arms set is found, but not repaired; on the CPU all of it runs.
TORN = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        if torch.rand(1) > -1:
            self.var = torch.full((2,), 0.5)
        else:
            self.var = torch.ones(2)

    def forward(self, x):
        return self.fc(x) * self.var

net = Net(){move}
print(net(torch.randn(3, 2){move}))
"""


def test_a_program_on_the_host_is_not_moved_in_part(tmp_path: Path) -> None:
    """The fixes say themselves that they are incomplete, and who asks for them gets none either."""
    outcome = _migrated(tmp_path, {"a.py": TORN.format(move="")})
    assert not outcome.changes and not outcome.refused
    fixes = [finding.fix for finding in outcome.remaining if finding.fix]
    assert len(fixes) == 2
    assert not any(fix.safe for fix in fixes)
    assert all(str(fix.reason).startswith("incomplete: ") for fix in fixes)

    outcome = _migrated(tmp_path, {"a.py": TORN.format(move="")}, unsafe=True)
    assert not outcome.changes
    (reason,) = set(outcome.refused.values())
    assert reason.endswith(
        "`self.var` is a plain attribute: it stays on the CPU when the module moves, which cannot "
        "be repaired"
    )


def test_a_program_on_the_device_is_mended_as_far_as_can_be(tmp_path: Path) -> None:
    outcome = _migrated(tmp_path, {"a.py": TORN.format(move=".cuda()")})
    assert outcome.changes and not outcome.refused


def test_one_fix_alone_is_judged_too(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(TWO_PARTS + "\nmain()\n")
    config = load([str(tmp_path)])
    project = migrate.read([str(tmp_path)], config)
    findings = [f for f in check(project, config) if f.fix is not None and f.span.line == 9]
    sources, refused = migrate.once(project, findings, config)
    assert not sources
    assert set(refused.values()) == {
        "the device that would take its place is one already, and takes no index"
    }


#: A line that is told only keeps the script on machines with CUDA.
DEMANDS = """\
import torch
from training import settings

settings["backend"] = "nccl"
net = torch.nn.Linear(1, 1).cuda()
print(net(torch.ones(1, 1).cuda()))
"""


def test_a_half_that_is_known_beforehand_is_not_inferred(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []
    inferred = inference.infer

    def infer(project: Project, *args: object, **settings: object) -> inference.Solution:
        texts.append(project.sources[str(tmp_path / "a.py")].text)
        return inferred(project, *args, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(inference, "infer", infer)
    outcome = _migrated(tmp_path, {"a.py": DEMANDS})
    assert not outcome.changes
    assert any("a.py:4 is not repaired" in reason for reason in outcome.refused.values())
    assert texts == [DEMANDS]


#: The library gives what is on the CPU, and a text shows its own code: an edit would change it.
SHOWN = """\
import torch
import torchaudio

spoken, _ = torchaudio.load("spoken.wav")
model = torch.nn.Linear(4, 1)
print(f"{{model(spoken){how}}}")
"""
#: The model's move shows that what it is called with is elsewhere: it takes a second round.
IN_TWO_ROUNDS = """\
import torch
import torchaudio

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.line = torch.nn.Linear(4, 1)

    def forward(self, x):
        return self.line(x.mean(dim=1, keepdim=True).repeat(1, 1, 4)).mean()

model = Model()
spoken, _ = torchaudio.load("spoken.wav")
spoken = spoken[None]
for _ in range(3):
    print(model(spoken).item())
"""


def test_who_refuses_an_edit_refuses_all_that_belongs_to_it(tmp_path: Path) -> None:
    outcome = _migrated(tmp_path, {"a.py": SHOWN.format(how="=")})
    assert not outcome.changes
    assert all("more than device handling" in reason for reason in outcome.refused.values())
    (tmp_path / "a.py").unlink()
    outcome = _migrated(tmp_path, {"b.py": SHOWN.format(how="")})
    (change,) = outcome.changes
    assert b"model(spoken.to(device))" in change.after


def test_a_program_for_the_cpu_stays_one_while_it_is_converted(tmp_path: Path) -> None:
    """Its second round asks for no more evidence than the first, and leaves no half."""
    outcome = _migrated(tmp_path, {"a.py": IN_TWO_ROUNDS})
    (change,) = outcome.changes
    assert b"Model().to(device)" in change.after
    assert b"model(spoken.to(device))" in change.after or b"[None].to(device)" in change.after
    assert not [left for left in outcome.remaining if left.rule != "undecided"]


#: A controller that somebody hands in, and that is moved in place.
HANDED_IN = """\
import torch

class Learner:
    def __init__(self, controller, use_cuda):
        self.controller = controller
        self.device = torch.device("cuda" if use_cuda else "cpu")

    def cuda(self):
        self.controller.cuda()

    def learn(self, batch):
        {use}
        return batch
"""


@pytest.mark.parametrize(
    ("use", "moved"),
    [
        ("self.controller.act(batch)", False),
        ("self.controller.train(batch)", False),
        ("self.controller.train()", True),
        ("self.controller.load_state_dict(batch)", True),
        ("self.controller(batch)", True),
    ],
)
def test_what_is_not_seen_is_moved_where_it_is_used_as_a_module(
    tmp_path: Path, use: str, moved: bool
) -> None:
    outcome = _migrated(tmp_path, {"a.py": HANDED_IN.format(use=use)})
    assert bool(outcome.changes) is moved
    if not moved:
        assert any("a class that is not seen" in reason for reason in outcome.refused.values())
