"""A program that handles its device itself is edited where both sides of a clash are certain."""

from __future__ import annotations

from textwrap import dedent

import pytest

from samedevice.finding import Finding
from samedevice.migration.check import check
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project

HEAD = """\
import numpy as np
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.zeros(1).to(device)
"""

#: Each line whose edit is certain ends with `# !`, each whose edit is doubted with `# ?`.
PROGRAMS = {
    "what a script does": """
        net = nn.Linear(2, 2).to(device)
        net(torch.ones(1, 2))  # !
    """,
    "what a function does that a script calls": """
        def run(net, n):
            return net(torch.ones(n, 2))  # !
        run(nn.Linear(2, 2).to(device), 3)
    """,
    "what a function does that nobody calls": """
        def run(n):
            net = nn.Linear(2, 2).to(device)
            return net(torch.ones(n, 2))  # ?
    """,
    "what meets a parameter that nobody fills": """
        def run(x):
            x = x + 1
            return torch.ones(2) + x.detach()  # !
    """,
    "what is called and not known": """
        import library
        net = library.Net().to(device)
        net(torch.ones(1, 2))  # ?
    """,
    "what is computed on the device and read by NumPy": """
        net = nn.Linear(2, 2).to(device)
        np.mean(net(torch.ones(1, 2, device=device)).detach())  # !
    """,
    "what only has to be on the device and is read by NumPy": """
        net = nn.Linear(2, 2).to(device)
        x = torch.as_tensor(np.ones((1, 2)))  # !
        net(x)
        np.mean(x)  # ?
    """,
    "what may be a number": """
        import library
        net = nn.Linear(2, 2).to(device)
        y = net(torch.ones(1, 2, device=device))
        y * torch.sqrt(torch.tensor(2 * library.scale()))  # ?
    """,
    "what is on the CPU for certain": """
        net = nn.Linear(2, 2).to(device)
        kept = net(torch.ones(1, 2, device=device)).cpu()
        net(kept)  # !
    """,
    "what is on the CPU on some path": """
        net = nn.Linear(2, 2).to(device)
        kept = net(torch.ones(1, 2, device=device))
        if len(kept) > 3:
            kept = kept.cpu()
        net(kept)  # ?
    """,
}


def found(text: str) -> list[Finding]:
    project = Project([source.from_text(HEAD + dedent(text), "main.py")])
    findings = check(project, Config())
    assert not project.errors
    return [finding for finding in findings if finding.fix is not None]


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_edit_is_made_where_it_is_certain(name: str) -> None:
    text = PROGRAMS[name]
    lines = (HEAD + dedent(text)).splitlines()
    certain = {number for number, line in enumerate(lines, 1) if line.endswith("# !")}
    doubted = {number for number, line in enumerate(lines, 1) if line.endswith("# ?")}
    findings = found(text)
    assert {f.span.line for f in findings if f.fix is not None and f.fix.safe} == certain
    notes = [f for f in findings if f.fix is not None and not f.fix.safe]
    assert {f.span.line for f in notes} == doubted
    assert all(f.level == "note" and f.fix is not None and f.fix.reason for f in notes)
