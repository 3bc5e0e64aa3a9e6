"""The part of the family that is about tensors in plain attributes of modules.

Some meet the device and have to move along, some are for the CPU alone, some are replaced from
outside. A program that ran where it was moved has to run there after `fix`, and say the same; one
that ran on the CPU alone has to run on both, or is told.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.conformance.evidence.family import Program, filled

HEAD = """\
import copy

import numpy as np
import torch
from torch import nn

"""

#: How a module gets its tensor `self.x`; `USE` is in `forward`, and gives `y` of `rows`.
WAYS = {
    "made": """
        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)
                self.x = torch.ones(3)
            def forward(self, rows):
                y = self.linear(rows)
                USE
                return y
    """,
    "made of a parameter": """
        class Layer(nn.Module):
            def __init__(self, size=3):
                super().__init__()
                self.linear = nn.Linear(size, size)
                values = [1.0] * size
                self.x = torch.tensor(values)
            def forward(self, rows):
                y = self.linear(rows)
                USE
                return y
    """,
    "made of an array": """
        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)
                self.x = torch.from_numpy(np.ones(3, dtype=np.float32))
            def forward(self, rows):
                y = self.linear(rows)
                USE
                return y
    """,
    "nothing at first": """
        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)
                self.x = None
            def forward(self, rows):
                y = self.linear(rows)
                if self.x is None:
                    self.x = torch.ones(3)
                USE
                return y
    """,
    "set by a method": """
        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)
                self.reset()
            def reset(self):
                self.x = torch.ones(3)
            def forward(self, rows):
                y = self.linear(rows)
                USE
                self.reset()
                return y
    """,
    "a copy of weights": """
        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)
                self.x = self.linear.bias.detach().clone() * 0 + 1
            def forward(self, rows):
                y = self.linear(rows)
                USE
                return y
    """,
    "in a list": """
        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)
                self.values = [torch.ones(3), torch.zeros(3)]
            @property
            def x(self):
                return self.values[0]
            def forward(self, rows):
                y = self.linear(rows)
                USE
                return y
    """,
    "in a mapping": """
        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)
                self.values = {"x": torch.ones(3)}
                self.x = self.values["x"]
            def forward(self, rows):
                y = self.linear(rows)
                USE
                return y
    """,
    "of the class": """
        class Layer(nn.Module):
            x = torch.ones(3)
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)
            def forward(self, rows):
                y = self.linear(rows)
                USE
                return y
    """,
    "handed in": """
        class Inner(nn.Module):
            def __init__(self, x):
                super().__init__()
                self.linear = nn.Linear(3, 3)
                self.x = x
            def forward(self, rows):
                y = self.linear(rows)
                USE
                return y
        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = Inner(torch.ones(3))
            @property
            def x(self):
                return self.inner.x
            def forward(self, rows):
                return self.inner(rows)
    """,
    "handed in, or a number": """
        class Inner(nn.Module):
            def __init__(self, x):
                super().__init__()
                self.linear = nn.Linear(3, 3)
                self.x = x
            def forward(self, rows):
                y = self.linear(rows)
                y = y * self.x
                return y
        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = Inner(torch.ones(3))
                self.other = Inner(1.0)
                self.x = torch.ones(3)
            def forward(self, rows):
                y = self.other(self.inner(rows))
                USE
                return y
    """,
    "of a base": """
        class Base(nn.Module):
            def __init__(self):
                super().__init__()
                self.x = torch.ones(3)
        class Layer(Base):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)
            def forward(self, rows):
                y = self.linear(rows)
                USE
                return y
    """,
    "by a flag": """
        class Layer(nn.Module):
            def __init__(self, scaled=True):
                super().__init__()
                self.linear = nn.Linear(3, 3)
                if scaled:
                    self.x = torch.ones(3)
                else:
                    self.x = 1.0
            def forward(self, rows):
                y = self.linear(rows)
                USE
                return y
    """,
    "a buffer that a hook replaces": """
        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)
                self.register_buffer("x", torch.ones(3))
            def forward(self, rows):
                y = self.linear(rows)
                USE
                return y
        def replace(module, given):
            module.x = torch.ones(3).to(given[0].device)
        register = nn.Module.register_forward_pre_hook
    """,
    "set from outside": """
        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)
                self.x = torch.zeros(3)
            def forward(self, rows):
                y = self.linear(rows)
                USE
                return y
        def fill(layer):
            layer.x = torch.ones(3)
    """,
}

_MEETS = "y = y * self.x"
USES = {
    "meets": _MEETS,
    "is added": "y = y + self.x.unsqueeze(0)",
    "is an index": "y = y[:, self.x.long()]",
    "is a size": "y = y[:, : self.x.shape[0]]",
    "is a number": "y = y * float(self.x.sum())",
    "is counted": "y = y * self.x.numel()",
    "is for numpy": "y = y * float(np.mean(self.x.tolist()))",
    "is moved": "y = y * self.x.to(y.device)",
    "is moved under a name": "x = self.x.to(rows.device)\ny = y * x",
    "is compared": "y = torch.where(y > self.x, y, self.x)",
    "is computed on the CPU": "y = y * float((self.x * torch.ones(3)).sum())",
    "is read only": "print(tuple(self.x.shape))",
}

#: What is done with the module: it is on the device by the program's own words, or on the CPU.
MAINS = {
    "moved": """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        torch.manual_seed(0)
        layer = Layer().to(device)
        FIRST
        print(round(float(layer(torch.ones(2, 3).to(device)).sum()), 3))
    """,
    "trained on the CPU": """
        torch.manual_seed(0)
        layer = Layer()
        FIRST
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        for _ in range(3):
            loss = layer(torch.ones(2, 3)).pow(2).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(round(loss.item(), 3))
    """,
    "copied": """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        torch.manual_seed(0)
        layer = Layer()
        FIRST
        other = copy.deepcopy(layer).to(device)
        print(round(float(layer(torch.ones(2, 3)).sum()), 3))
        print(round(float(other(torch.ones(2, 3).to(device)).sum()), 3))
    """,
}
#: What some ways do before the module is used.
FIRST = {
    "a buffer that a hook replaces": "register(layer, replace)",
    "set from outside": "fill(layer)",
}


#: One module stays on the CPU and its copy moves: what both share can be in one place only.
SHARED = ("in a list", "of the class")


def programs() -> Iterator[Program]:
    """Yield every program: each way, with each use and each main part."""
    for way, text in WAYS.items():
        for use, code in USES.items():
            for main, rest in MAINS.items():
                if main == "copied" and way in SHARED:
                    continue
                last = filled(rest, "", FIRST=FIRST.get(way, ""))
                yield Program(f"{way}, {use}, {main}", f"{HEAD}{filled(text, code)}\n\n{last}")
