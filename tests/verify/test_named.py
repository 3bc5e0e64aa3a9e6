"""Where an edit names a device, the edited program has to name one there."""

from __future__ import annotations

from textwrap import dedent

import pytest

from samedevice import verify
from samedevice.inference import infer
from samedevice.reading.project import Project
from samedevice.reading.source import from_text
from samedevice.verify.named import nameless

HEAD = 'import torch\n\ndevice = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
#: Each says `E` where a device is meant; what is said of it, and what stands there in the twin.
DOUBTED = {
    "a parameter that one caller leaves out": (
        """
        def scale(x, where=None):
            return x.to(E)

        scale(torch.ones(2), device)
        scale(torch.ones(2))
        """,
        "where", "device", "may be None",
    ),
    "an option that is set after it is read": (
        """
        import argparse
        class Policy:
            def __init__(self, args):
                self.args = args
                self.net = torch.nn.Linear(2, 2).to(E)
        args = argparse.ArgumentParser().parse_args()
        args.place = None
        policy = Policy(args)
        args.place = device
        """,
        "self.args.place", "device", "may be None",
    ),
    "a state that is None in the first round": (
        """
        def step(x, state):
            x = x.to(E)
            return x if state is device else x + state

        state = None
        for turn in range(2):
            state = step(torch.ones(2), state)
        """,
        "state.device", "device", "asks what may be None",
    ),
    "a parameter of a library that is None where it is left out": (
        """
        class Layer(torch.nn.Module):
            def cuda(self, number=None):
                self.part = self.part.to(E)
                return self
        """,
        "number", "device", "may be None",
    ),
    "a name of a library that is not known": (
        """
        from elsewhere import settings
        x = torch.zeros(2, device=E)
        """,
        "settings()", "device", "may be something unknown",
    ),
}  # fmt: skip


def _project(code: str, said: str) -> Project:
    return Project([from_text(HEAD + dedent(code).replace("E", said), "a.py")])


@pytest.mark.parametrize("name", DOUBTED)
def test_what_may_be_no_device_is_told_and_one_that_is_is_not(name: str) -> None:
    code, doubted, certain, what = DOUBTED[name]
    for said, expected in (doubted, [what]), (certain, []):
        project = _project(code, said)
        solution = infer(project, project.programs["a.py"], watch=True)
        found = nameless(project, project.programs["a.py"], solution)
        assert [does for _, _, does in found] == expected, said
        solution.release()


@pytest.mark.parametrize("name", DOUBTED)
def test_an_edit_that_may_name_no_device_is_objected_to(name: str) -> None:
    code, doubted, certain, what = DOUBTED[name]
    before, after = _project(code, certain), _project(code, doubted)
    solution = infer(after, after.programs["a.py"], watch=True)
    found = nameless(after, after.programs["a.py"], solution)
    objections = list(verify.objections(before, after, found))
    assert [each.reason for each in objections] == [f"`{doubted}` {what} there"]
    assert not list(verify.objections(after, after, found))  # what was there is nobody's edit
    solution.release()
