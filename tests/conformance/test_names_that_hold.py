"""A name for the device holds for every object that the code is run with."""

from __future__ import annotations

import pytest

from samedevice.migration.check import check
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project

MEMORY = """
import torch
from torch import nn


class Memory(nn.Module):
    def __init__(self, size, learned=False):
        super().__init__()
        self.size = size
        self.learned = learned
{made}

    def read(self):
        return torch.ones(self.size).cuda()


memories = [Memory(4, learned=True).cuda(), Memory(4, learned=False).cuda()]
"""
BY_OPTION = """
        if self.learned:
            self.bias = nn.Linear(size, size)
"""
ALWAYS = """
        if self.learned:
            self.bias = nn.Linear(size, size)
        else:
            self.bias = nn.Embedding(size, size)
"""
OR_NOT_AT_ALL = """
        if not size:
            raise ValueError("there has to be something")
        else:
            self.bias = nn.Linear(size, size)
"""


@pytest.mark.parametrize(
    ("made", "named"), [(BY_OPTION, False), (ALWAYS, True), (OR_NOT_AT_ALL, True)]
)
def test_a_module_that_may_have_no_parameters_does_not_say_where_it_is(
    made: str, named: bool
) -> None:
    text = MEMORY.format(made=made.strip("\n"))
    found, *_ = check(Project([source.from_text(text, "memory.py")]), Config())
    assert ("self.parameters()" in str(found.fix)) is named, found
