"""The part of the family whose values come from code that is not there: a library nobody knows.

`mystery` is beside the program when it runs, and not when it is judged.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.conformance.evidence.family import HEAD, SHOW, Program, filled

LIBRARY = '''\
import numpy as np
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, size=3):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.cuda()

    def forward(self, x):
        return x * self.weight


class Bare(nn.Module):
    def forward(self, x):
        return x * 2

    run = forward


class Engine:
    """What has a `to` of its own, and no parameters."""

    def __init__(self):
        self.where = "cpu"

    def to(self, where):
        self.where = where

    def cuda(self):
        self.where = "cuda"

    def __call__(self, x):
        return x * 2

    run = __call__


class Plain:
    shape = (3, 3)
    size = 3

    def __len__(self):
        return 3

    def __call__(self, x):
        return x * 2

    run = __call__


class Layer(nn.Module):
    pass


class Base:
    pass


def tensor():
    return torch.ones(3).cuda()


def host():
    return torch.ones(3)


def array():
    return np.ones(3)


def number():
    return 2.5


def whole():
    return 3


def rows():
    return [torch.ones(3).cuda(), torch.ones(3).cuda()]


def hosts():
    return [torch.ones(3), torch.ones(3)]


def mapping():
    return {"a": torch.ones(3).cuda(), "n": 3}


def pair():
    return torch.ones(3).cuda(), 3


def nothing():
    return None


def batches():
    for _ in range(2):
        yield torch.ones(3), 3


def consume(*values, **named):
    print(len(values), len(named))


def combine(x, y):
    return y


def taken(y):
    return y.cpu()
'''

#: How an unseen value comes to the name `x`.
WAYS = {
    "at once": """
        x = VALUE
        USE
    """,
    "in a function": """
        def run():
            x = VALUE
            USE
        run()
    """,
    "a parameter": """
        def run(x):
            USE
        run(VALUE)
    """,
    "returned": """
        def make():
            return VALUE
        def run():
            x = make()
            USE
        run()
    """,
    "a parameter that nobody fills": """
        def run(x):
            USE
        def main(run):
            run(VALUE)
        mystery.__dict__.setdefault("later", []).append(run)
        for each in mystery.later:
            main(each)
    """,
    "an attribute": """
        class Holder:
            def __init__(self):
                self.x = VALUE
            def run(self):
                x = self.x
                USE
        Holder().run()
    """,
    "an attribute of a module": """
        class Layer(nn.Module):
            def __init__(self, x):
                super().__init__()
                self.x = x
            def forward(self):
                x = self.x
                USE
        Layer(VALUE)()
    """,
    "of a library's module": """
        class Layer(mystery.Layer):
            def __init__(self):
                super().__init__()
                self.x = VALUE
            def run(self):
                x = self.x
                USE
        Layer().run()
    """,
    "of a library's class": """
        class Layer(mystery.Base):
            def run(self, x):
                USE
        Layer().run(VALUE)
    """,
    "an argument of a module": """
        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(3))
            def forward(self, y, x):
                y = y * self.weight
                USE
        Layer().cuda()(torch.ones(3).cuda(), VALUE)
    """,
    "a member": """
        settings = {"x": VALUE, "n": 3}
        def run(settings):
            x = settings["x"]
            USE
        run(settings)
    """,
    "one of several": """
        def run(values):
            for x in values:
                USE
        run([VALUE])
    """,
    "with a device beside it": """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        def run():
            x = VALUE
            z = torch.ones(3).to(device)
            USE
            print(z.shape)
        run()
    """,
    "with an option beside it": """
        parser = argparse.ArgumentParser()
        parser.add_argument("--gpu", type=int, default=0)
        args = parser.parse_args([])
        def run(args):
            x = VALUE
            USE
            z = torch.ones(3).cuda(args.gpu)
            print(z.shape)
        run(args)
    """,
}

_ANY = (
    "y = torch.ones(3).cuda()\nmystery.consume(x, y)",
    'mystery.consume(x)\ny = torch.zeros(3, device="cuda")\nprint(y.shape)',
    f"y = mystery.combine(x, torch.ones(3).cuda())\n{SHOW}",
    "rows = [torch.ones(3).cuda()]\nrows.append(x)\nprint(len(rows))",
    'd = {"x": x, "y": torch.ones(3).cuda()}\nprint(len(d))',
    "y = mystery.taken(torch.ones(3).cuda())\nprint(np.mean(y.numpy()))",
    f"y = torch.ones(3).cuda()\ny = y if x is None else y + 1\n{SHOW}",
    "y = torch.nn.Linear(3, 3).cuda()(torch.ones(1, 3).cuda())\nmystery.consume(x, out=y)",
)
_CALLED = (
    f"y = x(torch.ones(3).cuda())\n{SHOW}",
    f"y = x.run(torch.ones(3).cuda())\n{SHOW}",
    f"y = torch.zeros(3)\ny = x(y.cuda()) + torch.ones(3).cuda()\n{SHOW}",
)
_MODULE = (
    f"x.eval()\ny = x(torch.ones(3).cuda())\n{SHOW}",
    f"x.cuda()\ny = x(torch.ones(3).cuda())\n{SHOW}",
    f'x = x.to("cuda")\ny = x(torch.ones(3).cuda())\n{SHOW}',
    f"x.train()\nx.cuda()\ny = x(torch.ones(3).cuda()) * torch.ones(3).cuda()\n{SHOW}",
)
_LONG = (
    f"y = torch.ones(len(x)).cuda()\n{SHOW}",
    f'y = torch.arange(len(x), device="cuda") * 2\n{SHOW}',
)
_NUMBER = (
    f"y = torch.ones(3).cuda() * x\n{SHOW}",
    f'y = torch.zeros(3, device="cuda") + x\n{SHOW}',
    f"y = torch.cuda.FloatTensor(3).fill_(0) - x\n{SHOW}",
)
_ROWS = (
    *_LONG,
    f"y = torch.stack(list(x)).cuda() + 1\n{SHOW}",
    f"y = torch.zeros(3).cuda()\nfor row in x:\n    y = y + row.cuda()\n{SHOW}",
    f"y = torch.zeros(3).cuda() + x[0].cuda()\n{SHOW}",
)
_ARRAY = (
    *_LONG,
    f"y = torch.zeros(x.shape[0]).cuda() + 1\n{SHOW}",
    f"y = torch.as_tensor(x).cuda()\n{SHOW}",
    "print(round(float(np.mean(x)), 3))\ny = torch.ones(3).cuda()\nprint(y.shape)",
)

VALUES: dict[str, tuple[str, ...]] = {
    "mystery.tensor()": (
        *_ANY,
        *_LONG,
        *_NUMBER,
        f"y = torch.zeros(x.shape[0]).cuda() + x\n{SHOW}",
    ),
    "mystery.host()": (*_ANY, *_ARRAY, f"y = torch.zeros(3).cuda() + x.cuda()\n{SHOW}"),
    "mystery.array()": (*_ANY, *_ARRAY),
    "mystery.number()": (*_ANY, *_NUMBER),
    "mystery.whole()": (*_ANY, *_NUMBER, f"y = torch.ones(x).cuda()\n{SHOW}"),
    "mystery.rows()": (*_ANY, *_ROWS),
    "mystery.hosts()": (*_ANY, *_ROWS),
    "mystery.mapping()": (*_ANY, *_LONG, f'y = torch.ones(x["n"]).cuda() + x["a"]\n{SHOW}'),
    "mystery.pair()": (
        *_ANY,
        *_LONG,
        f"a, n = x\ny = torch.ones(n).cuda() + a\n{SHOW}",
        f"y = torch.ones(x[1]).cuda() + x[0]\n{SHOW}",
    ),
    "mystery.nothing()": _ANY,
    "mystery.Net()": (*_ANY, *_MODULE, _CALLED[0], _CALLED[2]),
    "mystery.Bare()": (*_ANY, *_MODULE, *_CALLED),
    "mystery.Engine()": (*_ANY, *_CALLED, f"x.cuda()\ny = x(torch.ones(3).cuda())\n{SHOW}"),
    "mystery.Plain()": (*_ANY, *_CALLED, *_LONG, f"y = torch.zeros(x.shape[0]).cuda() + 1\n{SHOW}"),
    "mystery.batches()": (
        f"for a, n in x:\n    y = a.cuda() + torch.ones(n).cuda()\n    {SHOW}",
        f"for a, n in x:\n    y = a.cuda()\n    mystery.consume(n, y)\n    {SHOW}",
        f"for batch in x:\n    y = batch[0].cuda() + torch.zeros(batch[1]).cuda()\n    {SHOW}",
    ),
}


def programs() -> Iterator[Program]:
    """Yield every program: each way, with each value and each of its uses."""
    head = HEAD + "import mystery\n\n"
    for value, uses in VALUES.items():
        for number, use in enumerate(uses, 1):
            for way, text in WAYS.items():
                yield Program(f"{value}, {number}, {way}", head + filled(text, use, VALUE=value))
