"""A generated family: what an edit asks is a tensor for each value that can arrive there.

Each program brings two values together in one of the ways of the language (`WAYS`), a tensor and
something else (`VALUES`), and uses what arrives in a way that suits both. It runs before `fix`, so
it has to run after. An edit that takes the one for the other breaks it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import dedent, indent

HEAD = """\
import argparse
import random
from collections import OrderedDict
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import nn

"""

#: How two values come to one name, `x`. `USE` is what is done with it.
WAYS = {
    "if": """
        def run(flag):
            if flag:
                x = TENSOR
            else:
                x = OTHER
            USE
        for flag in random.sample([True, False], 2):
            run(flag)
    """,
    "choice": """
        def run(flag):
            x = TENSOR if flag else OTHER
            USE
        for flag in random.sample([True, False], 2):
            run(flag)
    """,
    "callers": """
        def run(x):
            USE
        run(TENSOR)
        run(OTHER)
    """,
    "callers by keyword": """
        def run(x=None):
            USE
        run(x=OTHER)
        run(x=TENSOR)
    """,
    "a default": """
        def run(x=OTHER):
            USE
        run(TENSOR)
        run()
    """,
    "an early return": """
        def make(flag):
            if flag:
                return OTHER
            return TENSOR
        def run(flag):
            x = make(flag)
            USE
        for flag in random.sample([True, False], 2):
            run(flag)
    """,
    "a pair": """
        def make(flag):
            if flag:
                return 1, OTHER
            return 0, TENSOR
        def run(flag):
            _, x = make(flag)
            USE
        for flag in random.sample([True, False], 2):
            run(flag)
    """,
    "an attribute": """
        class Holder:
            def __init__(self):
                self.x = OTHER
            def fill(self):
                self.x = TENSOR
            def run(self):
                x = self.x
                USE
        holder = Holder()
        holder.run()
        holder.fill()
        holder.run()
    """,
    "an attribute from outside": """
        class Holder:
            def __init__(self, x):
                self.x = x
            def run(self):
                x = self.x
                USE
        Holder(TENSOR).run()
        Holder(OTHER).run()
    """,
    "a setting": """
        parser = argparse.ArgumentParser()
        args = parser.parse_args([])
        def run(args):
            x = args.x
            USE
        args.x = TENSOR
        run(args)
        args.x = OTHER
        run(args)
    """,
    "a key that is not there": """
        def run(settings):
            x = settings.get("x", OTHER)
            USE
        run({"x": TENSOR})
        run({})
    """,
    "a key": """
        def run(settings):
            x = settings["x"]
            USE
        run({"x": TENSOR})
        run(dict(x=OTHER))
    """,
    "members of a list": """
        def run(values):
            for x in values:
                USE
        run([TENSOR, OTHER])
    """,
    "an element of a list": """
        values = []
        values.append(TENSOR)
        values.append(OTHER)
        def run(index):
            x = values[index]
            USE
        for index in random.sample([0, 1], 2):
            run(index)
    """,
    "a loop": """
        def run():
            x = OTHER
            for _ in range(2):
                USE
                x = TENSOR
        run()
    """,
    "an exception": """
        def run(text):
            try:
                int(text)
                x = OTHER
            except ValueError:
                x = TENSOR
            USE
        run("1")
        run("one")
    """,
    "a method of two classes": """
        class Base:
            def make(self):
                return TENSOR
            def run(self):
                x = self.make()
                USE
        class Other(Base):
            def make(self):
                return OTHER
        Base().run()
        Other().run()
    """,
    "one of two functions": """
        def one():
            return TENSOR
        def two():
            return OTHER
        MAKERS = {"one": one, "two": two}
        def run(name):
            x = MAKERS[name]()
            USE
        run("one")
        run("two")
    """,
    "one of two objects": """
        class One:
            def make(self):
                return TENSOR
        class Two:
            def make(self):
                return OTHER
        def run(flag):
            maker = One() if flag else Two()
            x = maker.make()
            USE
        for flag in random.sample([True, False], 2):
            run(flag)
    """,
    "a generator": """
        def make():
            yield OTHER
            yield TENSOR
        def run():
            for x in make():
                USE
        run()
    """,
    "or": """
        def run(given):
            x = OTHER if given is None else given
            USE
        run(None)
        run(TENSOR)
    """,
    "a global": """
        x = OTHER
        def fill():
            global x
            x = TENSOR
        def run():
            USE
        run()
        fill()
        run()
    """,
    "keywords": """
        def run(**options):
            x = options["x"]
            USE
        run(x=TENSOR)
        run(x=OTHER)
    """,
    "arguments": """
        def run(*values):
            x = values[0]
            USE
        run(TENSOR)
        run(OTHER)
    """,
    "a part": """
        def run(x, n):
            USE
        part = partial(run, TENSOR)
        other = partial(run, OTHER)
        part(1)
        other(2)
    """,
    "a data class": """
        @dataclass
        class Row:
            x: object
            n: int = 0
        def run(row):
            x = row.x
            USE
        run(Row(TENSOR))
        run(Row(OTHER, 1))
    """,
    "a table of callables": """
        def run(make):
            x = make()
            USE
        for make in (lambda: TENSOR, lambda: OTHER):
            run(make)
    """,
    "a loader": """
        class One(torch.utils.data.Dataset):
            def __len__(self):
                return 1
            def __getitem__(self, index):
                return TENSOR
        class Two(One):
            def __getitem__(self, index):
                return OTHER
        def run(loader):
            for x in loader:
                USE
        for data in (One(), Two()):
            run(torch.utils.data.DataLoader(data, collate_fn=lambda rows: rows[0]))
    """,
    "a property": """
        class Holder:
            flag = True
            @property
            def x(self):
                return TENSOR if self.flag else OTHER
            def run(self):
                x = self.x
                USE
        holder = Holder()
        holder.run()
        holder.flag = False
        holder.run()
    """,
    "setattr": """
        class Holder:
            pass
        def run(holder):
            x = holder.x
            USE
        for value in (TENSOR, OTHER):
            holder = Holder()
            setattr(holder, "x", value)
            run(holder)
    """,
    "a nested function": """
        def outer(x):
            def run():
                USE
            run()
        outer(TENSOR)
        outer(OTHER)
    """,
    "a queue": """
        queue = [OTHER, TENSOR]
        def run():
            while queue:
                x = queue.pop()
                USE
        run()
    """,
    "a method called by two": """
        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(3))
            def forward(self, x):
                USE
                return self.weight
        layer = Layer().cuda()
        layer(TENSOR)
        layer(OTHER)
    """,
    "two calls of a module": """
        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(3))
            def forward(self, y, x=None):
                if x is None:
                    x = OTHER
                USE
                return y * self.weight
        layer = Layer().cuda()
        layer(torch.ones(3).cuda(), TENSOR)
        layer(torch.ones(3).cuda())
    """,
}

SHOW = "print(round(float(y.sum()), 4))"


@dataclass(frozen=True)
class Meeting:
    """A tensor and something else, with what suits both of them."""

    tensor: str
    other: str
    uses: tuple[str, ...]


_CUDA = "torch.ones(3).cuda()"
_NUMBERS = (
    f"y = torch.ones(3).cuda() * x\n{SHOW}",
    f'y = torch.zeros(3, device="cuda") + x\n{SHOW}',
    f"y = torch.ones(3).cuda()\ny = torch.where(y > 0, y, torch.zeros(3).cuda()) - x\n{SHOW}",
    f"y = torch.cuda.FloatTensor(3).fill_(1) * x\n{SHOW}",
    f"y = torch.full((3,), 2.0).cuda()\ny = y.clamp(max=3) / x\n{SHOW}",
    f"y = nn.Linear(3, 3).cuda()(torch.ones(1, 3).cuda() * x) * 0\n{SHOW}",
)
_SHAPED = (
    f"y = torch.zeros(x.shape[0]).cuda() + 1\n{SHOW}",
    f"y = torch.ones(len(x)).cuda()\n{SHOW}",
    f'y = torch.as_tensor(x).to("cuda")\n{SHOW}',
    f'y = torch.arange(len(x), device="cuda") * x.shape[0]\n{SHOW}',
)
_ON_HOST = (
    "print(round(float(np.mean(x)), 4))",
    "print(np.round(np.asarray(x), 2).tolist())",
    "values = np.zeros(3)\nvalues[:] = x\nprint(values.tolist())",
)
_SEVERAL = (
    f"y = torch.zeros(len(x)).cuda() + 1\n{SHOW}",
    f"y = torch.zeros(3).cuda()\nfor row in x:\n    y = y + row\n{SHOW}",
    f"y = torch.zeros(3).cuda() + x[0]\n{SHOW}",
    f"y = torch.stack(list(x)) + torch.ones(1).cuda()\n{SHOW}",
    f"y = sum(x) * torch.ones(3).cuda()\n{SHOW}",
)
_PERHAPS = (
    f"y = torch.ones(3).cuda()\nif x is not None:\n    y = y * x\n{SHOW}",
    f"y = torch.ones(3).cuda()\ny = y if x is None else y + x\n{SHOW}",
    "y = torch.ones(3).cuda()\nfor one in (x,):\n    if one is not None:\n        y = y - one\n"
    f"{SHOW}",
    'y = nn.functional.mse_loss(torch.ones(3).cuda(), torch.zeros(3, device="cuda"))\n'
    f"print(x is None)\n{SHOW}",
)

VALUES = {
    "a number": Meeting(_CUDA, "2.5", _NUMBERS),
    "a whole number": Meeting(_CUDA, "3", _NUMBERS[:3]),
    "a number of numpy": Meeting(_CUDA, "np.float32(2.5)", _NUMBERS[:2]),
    "what nobody knows": Meeting(_CUDA, "random.choice([2.5, 2.5])", _NUMBERS[:2]),
    "an array": Meeting("torch.ones(4, 3).cuda()", "np.ones((4, 3))", _SHAPED),
    "an array of the host": Meeting("torch.ones(3)", "np.ones(3)", _ON_HOST + _SHAPED),
    "an array of the host, from the device": Meeting(
        "torch.ones(3).cuda().cpu()", "np.ones(3)", _ON_HOST + _SHAPED
    ),
    "a list of numbers": Meeting("torch.ones(3)", "[1.0, 2.0, 3.0]", _ON_HOST + _SHAPED[1:3]),
    "a list": Meeting(
        "torch.ones(2, 3).cuda()", "[torch.ones(3).cuda(), torch.ones(3).cuda()]", _SEVERAL
    ),
    "a tuple": Meeting(
        "torch.ones(2, 3).cuda()", "(torch.ones(3).cuda(), torch.ones(3).cuda())", _SEVERAL
    ),
    "a list of modules": Meeting(
        "torch.ones(2, 3).cuda()", "[nn.Identity()]", (f"y = torch.ones(len(x)).cuda()\n{SHOW}",)
    ),
    "nothing": Meeting(_CUDA, "None", _PERHAPS),
    "a text": Meeting(_CUDA, '"abc"', (_SHAPED[1],)),
    "a mapping": Meeting(
        _CUDA,
        '{"a": torch.ones(3).cuda()}',
        (
            _SHAPED[1],
            "y = torch.zeros(3).cuda()\n"
            "for row in (x.values() if isinstance(x, dict) else [x]):\n"
            f"    y = y + row\n{SHOW}",
        ),
    ),
    "a function": Meeting(
        _CUDA,
        "torch.tanh",
        (f"y = torch.ones(3).cuda()\ny = x(y) if callable(x) else x * y\n{SHOW}",),
    ),
    "a layer": Meeting(
        _CUDA,
        "nn.Identity()",
        (f"y = torch.ones(3).cuda()\ny = x(y) if callable(x) else x * y\n{SHOW}",),
    ),
}


@dataclass(frozen=True)
class Program:
    """One program of the family."""

    name: str
    text: str


def programs() -> Iterator[Program]:
    """Yield every program: each way, with each meeting and each of its uses."""
    for value, meeting in VALUES.items():
        for number, use in enumerate(meeting.uses, 1):
            for way, text in WAYS.items():
                yield Program(
                    f"{value}, {number}, {way}",
                    HEAD + filled(text, use, TENSOR=meeting.tensor, OTHER=meeting.other),
                )


def filled(way: str, use: str, **values: str) -> str:
    """Return the code of a way, with what is used in place of `USE`, and values by their names."""
    lines = []
    for line in dedent(way).strip().splitlines():
        if line.strip() in ("SINK", "USE"):
            lines.append(indent(use, " " * (len(line) - len(line.lstrip()))))
        else:
            for name, value in values.items():
                line = line.replace(name, value)
            lines.append(line)
    return "\n".join(lines) + "\n"
