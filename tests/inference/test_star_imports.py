"""What `from library import *` brings is the library's, as far as its names are known."""

from __future__ import annotations

import json

import pytest

from samedevice.migration.check import check
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project

HEAD = """\
import torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
y = torch.ones(3, device=device)
"""


def rules(text: str, path: str = "main.py") -> list[str]:
    return [one.rule for one in check(Project([source.from_text(text, path)]), Config())]


@pytest.mark.parametrize("library", ["pylab", "matplotlib.pyplot"])
def test_what_draws_reads_the_cpu(library: str) -> None:
    assert rules(f"{HEAD}from {library} import *\nplot(y)\n") == ["not-moved-to-cpu"]
    assert rules(f"{HEAD}from {library} import *\nplot(y.cpu())\n") == []


@pytest.mark.parametrize("imports", ["from numpy import *", "from pylab import *"])
def test_what_only_a_pattern_knows_reads_the_cpu(imports: str) -> None:
    assert rules(f"{HEAD}{imports}\nz = array(y)\n") == ["not-moved-to-cpu"]
    assert rules(f"{HEAD}{imports}\nz = array(y.cpu())\n") == []
    assert rules(f"{HEAD}{imports}\ndef array(x): return x\nz = array(y)\n") == []
    assert rules(f"{HEAD}{imports}\nfrom mine import *\nz = array(y)\n") == []  # perhaps theirs


def test_all_of_torch() -> None:
    assert rules(f"{HEAD}from torch import *\nz = zeros(3) + y\n") == ["tensor-without-device"]


def test_a_name_of_the_file_s_own_wins() -> None:
    own = "def plot(values):\n    return values * 2\n"
    assert rules(f"{HEAD}from pylab import *\n{own}plot(y)\n") == []


def test_pylab_of_a_notebook() -> None:
    cells = [
        {"cell_type": "code", "source": "%pylab inline"},
        {"cell_type": "code", "source": HEAD},
        {"cell_type": "code", "source": "plot(y)"},
    ]
    notebook = source.from_bytes(json.dumps({"nbformat": 4, "cells": cells}).encode(), "n.ipynb")
    found = check(Project([notebook]), Config())
    assert [(one.rule, notebook.where(one.span.line)) for one in found] == [
        ("not-moved-to-cpu", "n.ipynb:cell 3:1")
    ]
