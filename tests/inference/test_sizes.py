"""A parameter that a function uses as a whole number is no tensor, whoever calls."""

from __future__ import annotations

import ast

import pytest

from samedevice.inference.sizes import used_as_sizes
from samedevice.migration.check import check
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project

TAGGER = """
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, {parameters}):
        super().__init__()
        self.begin = labels - 2
        self.project = nn.Linear(width, {size})
        self.steps = nn.Parameter(torch.randn(7, 7))
        self.steps.data[self.begin, :] = -100.0

    def score(self, tags):
        first = torch.tensor([self.begin]).cuda()
        return self.steps[torch.cat([first, tags])]
"""


@pytest.mark.parametrize(
    ("size", "rules"),
    [("labels", {"hard-coded-device"}), ("7", {"hard-coded-device", "pinned-to-cpu"})],
)
def test_what_is_a_size_is_nowhere(size: str, rules: set[str]) -> None:
    text = TAGGER.format(parameters="labels, width", size=size)
    found = check(Project([source.from_text(text, "tagger.py")]), Config())
    assert {each.rule for each in found} == rules


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("return torch.zeros(a, b)", {"a", "b"}),
        ("return [a for _ in range(b)]", {"b"}),
        ("return x.view(a, -1)", {"a"}),
        ("return torch.zeros(a)[a[0]]", set()),
        ("a = a.size(0)\n    return torch.zeros(a)", set()),
        ("return nn.Linear(a, 3), x.view(a)", {"a"}),
        ("return torch.arange(2 * a + 1), len(b)", {"a"}),
        ("return torch.full(a, b)", set()),
    ],
)
def test_uses_as_sizes(body: str, names: set[str]) -> None:
    (function,) = ast.parse(f"def f(a, b, x):\n    {body}\n").body
    assert used_as_sizes(function) == names
