"""Objects, operators and callables as Python has them, beyond what the language suite runs."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from samedevice.inference.graph import Graph
from samedevice.inference.nodes import Location
from samedevice.inference.objects import Attributes, Instance
from samedevice.inference.values import Const, Device
from samedevice.migration.check import check, is_wrong
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project

HEAD = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 2).to(device)
"""
#: Each hands the model `X`, which is on the host or on the device.
PROGRAMS = {
    "an attribute that is emptied on one path and replaced on the other": """
        class Feed:
            def __init__(self, items):
                self.items = iter(items)
                self.load()
            def load(self):
                try:
                    self.row = next(self.items)
                except StopIteration:
                    self.row = None
                    return
                self.row = X
        model(Feed([torch.ones(1, 3)]).row)
    """,
    "several items": """
        from operator import itemgetter
        n, x = itemgetter("n", "x")({"n": 1, "x": X})
        model(x)
    """,
    "an attribute of an attribute": """
        from operator import attrgetter
        class Inner:
            pass
        class Outer:
            pass
        outer = Outer()
        outer.inner = Inner()
        outer.inner.x = X
        model(attrgetter("inner.x")(outer))
    """,
    "one of several named tuples": """
        from collections import namedtuple
        Row = namedtuple("Row", "n x")
        rows = []
        for n in range(3):
            rows.append(Row(n, X))
        for n, x in rows:
            model(x)
    """,
    "a named tuple with defaults": """
        from collections import namedtuple
        Row = namedtuple("Row", "n x", defaults=(X,))
        model(Row(1).x)
    """,
    "an executor of a loop": """
        import asyncio
        async def main():
            loop = asyncio.get_running_loop()
            model(await loop.run_in_executor(None, lambda: X))
        asyncio.run(main())
    """,
    "members by super": """
        class Rows(list):
            def append(self, x):
                super().append(x)
        rows = Rows()
        rows.append(X)
        model(rows[0])
    """,
    "super across a diamond": """
        class Base:
            def make(self):
                return torch.zeros(1, 3, device=device)
        class Left(Base):
            def make(self):
                return super().make()
        class Right(Base):
            def make(self):
                return X
        class Both(Left, Right):
            pass
        model(Both().make())
    """,
    "an enum's member made of parts": """
        from enum import Enum
        class Kind(Enum):
            ONES = (1, lambda: X)
            def __init__(self, n, make):
                self.make = make
        model(Kind.ONES.make())
    """,
    "an attrs class": """
        import attr
        @attr.s
        class State:
            n = attr.ib()
            x = attr.ib(factory=lambda: X)
        model(State(1).x)
    """,
    "what a generator is sent twice": """
        def step():
            x = yield
            while True:
                model(x)
                x = yield
        steps = step()
        next(steps)
        steps.send(torch.zeros(1, 3, device=device))
        steps.send(X)
    """,
}


def _found(program: str) -> bool:
    project = Project([source.from_text(program, "main.py")])
    return any(map(is_wrong, check(project, Config())))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_value_on_the_host_is_found_and_one_on_the_device_is_not(name: str) -> None:
    text = HEAD + dedent(PROGRAMS[name])
    assert _found(text.replace("X", "torch.ones(1, 3)"))
    assert not _found(text.replace("X", "torch.ones(1, 3, device=device)"))


def test_the_attributes_that_name_a_device_are_known_after_each_change() -> None:
    device = Device(Graph().node(), Location("a.py", ast.Pass()))
    text, other = Const("cuda"), Const(3)
    attrs = Attributes({"a": device, "b": text, "c": other})
    assert [*attrs.devices] == [*attrs.holders] == ["a", "b"]
    attrs["a"] = other
    attrs["c"] = Instance("module")
    assert ([*attrs.devices], [*attrs.holders]) == (["b"], ["b", "c"])
    attrs["c"] = device
    assert attrs.setdefault("c", other) is device
    assert ([*attrs.devices], [*attrs.holders]) == (["b", "c"], ["b", "c"])
    del attrs["b"]
    assert ([*attrs.devices], [*attrs.holders]) == (["c"], ["c"])
    attrs["to_*"] = other
    assert [*attrs.patterns] == ["to_*"]
    attrs.clear()
    assert not (attrs or attrs.devices or attrs.holders or attrs.patterns)
