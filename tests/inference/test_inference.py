"""Small programs, each with one way in which values travel, and what is found in them.

A line that is at fault ends with `# !` and the rule's name; what has none is correct.
"""

from __future__ import annotations

import re
from textwrap import dedent

import pytest

from samedevice.inference import functions
from samedevice.migration.check import check, is_wrong
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project

HEAD = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
"""
_MARK = re.compile(r"# !(.*)$", re.M)

#: Each program that fails on a device, without its head.
WRONG: dict[str, str] = {
    "the first item of a number in a function that nobody calls": """
        criterion = nn.MSELoss()
        def late(x, y):
            return criterion(x, y).data[0]  # !legacy-autograd
    """,
    "a sum that begins with a number": """
        import matplotlib.pyplot as plt
        net, losses = nn.Linear(2, 2).to(device), []
        for epoch in range(3):
            total = 0
            for step in range(4):
                total += net(torch.ones(1, 2, device=device)).sum()
            losses.append(total / 4)
        plt.plot(losses)  # !not-moved-to-cpu
    """,
    "what is loaded onto the CPU by name": """
        net = nn.Linear(2, 2).to(device)
        data = torch.load("data.pt", map_location="cpu")
        net(data["x"])  # !pinned-to-cpu
    """,
    "a switch that an instance was made with": """
        class Reader:
            def __init__(self, to_cuda=False):
                self.to_cuda = to_cuda
            def read(self, rows):
                rows = torch.ones(rows)  # !tensor-without-device
                return rows.cuda() if self.to_cuda else rows
        nn.Linear(3, 1).to(device)(Reader().read(3))
    """,
    "a list of modules that a loop fills": """
        class Heads(nn.Module):
            def __init__(self):
                super().__init__()
                self.heads = []  # !modules-in-plain-container
                for size in (2, 3):
                    self.heads.append(nn.Linear(4, size))
            def forward(self, x):
                return [head(x) for head in self.heads]
        Heads().to(device)(torch.ones(1, 4, device=device))
    """,
    "the rows of a container that are mapped": """
        from collections import namedtuple
        Row = namedtuple("Row", "x y")
        rows = [
            Row(
                torch.randn(4),
                torch.randint(2, (1,)),  # !tensor-without-device
            )
            for _ in range(3)
        ]
        batch = Row(*map(torch.stack, zip(*rows)))
        batch = batch._replace(x=batch.x.to(device))
        nn.Linear(4, 2).to(device)(batch.x).gather(1, batch.y)
    """,
    "a file with a model and its optimizer": """
        import sys
        def restore(name):
            global model, optimizer
            with open(name, "rb") as file:
                model, optimizer = torch.load(file)  # !load-without-map-location
        model = nn.Linear(2, 2).to(device)
        optimizer = None
        if len(sys.argv) > 1:
            restore(sys.argv[1])
        else:
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(torch.rand(3, 2, device=device))
    """,
    "a closure over the device": """
        def make():
            weight = torch.ones(3)  # !tensor-without-device
            def apply(x):
                return x * weight
            return apply
        make()(torch.rand(3, device=device))
    """,
    "a closure that is called by another name": """
        def outer(x):
            bias = torch.zeros(3)  # !tensor-not-on-input-device
            def inner():
                return x + bias
            step = inner
            return step()
        outer(torch.rand(3, device=device))
    """,
    "a generator": """
        def steps():
            for i in range(3):
                yield torch.full((3,), i)  # !tensor-without-device
        total = torch.zeros(3, device=device)
        for step in steps():
            total = total + step
    """,
    "a function of NumPy's that gives a tensor on the host": """
        import numpy as np
        model = nn.Linear(2, 2).to(device)
        x = np.clip(  # !numpy-boundary
            torch.rand(3, 2, device=device),  # !not-moved-to-cpu
            0.0, 0.5)
        norm = sum(p.norm() for p in model.parameters())
        x = x * np.sqrt(norm)  # !not-moved-to-cpu
        model(np.squeeze(x) + np.squeeze(torch.rand(3, 2, device=device)))
    """,
    "an array over a tensor": """
        model = nn.Linear(2, 2).to(device)
        for parameter in model.parameters():
            values = parameter.data.numpy()  # !not-moved-to-cpu
            print(values[0])
    """,
    "an array over a tensor that is written to": """
        model = nn.Linear(2, 2).to(device)
        for parameter in model.parameters():
            values = parameter.data.numpy()  # !not-moved-to-cpu
            values[:] = 0
    """,
    "a model that is computed with, or its copy is, before it is returned": """
        import copy
        def mutate(net, copied=True):
            new = copy.deepcopy(net) if copied else net
            for p in new.parameters():
                p.data += torch.ones(p.shape)  # !tensor-without-device
            return new
        def build(count):
            net = nn.Linear(2, 1)  # !module-not-moved
            for _ in range(count):
                net = mutate(net, copied=False)
            return net
        model = build(2)
        model(torch.rand(3, 2, device=device))
    """,
    "a device that is handed on, but left out at first": """
        def many(net, device="cpu"):
            for _ in range(2):
                once(net, device)
        def once(net, device="cpu"):
            return net(torch.rand(4, 3).to(device))
        def noise(n, device=None):
            return drawn(n, device)
        def drawn(n, device=None):
            return torch.rand(n, device=device)
        class Reader:
            def __init__(self, device="cpu"):
                self.device = device
            def __call__(self, rows):
                return torch.FloatTensor(rows).to(self.device)
        net = nn.Linear(3, 2).to(device)
        many(net)  # !device-not-passed
        read = Reader()  # !device-not-passed
        print(net(read([[1.0, 2.0, 3.0]])) + noise(2))  # !device-not-passed
        many(net, device)
    """,
    "processes that play for a model": """
        import torch.multiprocessing as mp
        def play(queue):
            queue.put([0.0, 1.0])
        queue = mp.Queue()
        mp.Process(target=play, args=(queue,)).start()
        model = nn.Linear(2, 1)  # !module-not-moved
        print(model(torch.tensor([queue.get()])))  # !tensor-without-device
    """,
    "a model that is built or loaded, as a constant says": """
        checkpoint = None
        def main():
            global checkpoint
            if checkpoint is None:
                model = nn.Linear(2, 2)
            else:
                checkpoint = torch.load(checkpoint)  # !load-without-map-location
                model = checkpoint["model"]
            return model.to(device)
        main()
    """,
    "a model that is loaded or built": """
        import sys
        if "--resume" in sys.argv:
            model = torch.load("model.pt")  # !load-without-map-location
            model.eval()
        else:
            model = nn.Linear(2, 2)
        model = model.to(device)
        model(torch.rand(3, 2))  # !tensor-without-device
    """,
    "a model that computes before it is moved, and behind that": """
        def train(net):
            net.to(device)
            net(torch.rand(4, 3))  # !tensor-without-device
        net = nn.Linear(3, 2)
        print(net(torch.rand(1, 3)).shape)
        train(net)
        print(net(torch.rand(1, 3)))  # !tensor-without-device
    """,
    "a model that was handed in comes back": """
        def trained(model, x):
            model(x).sum().backward()
            return model
        first = trained(nn.Linear(2, 1), torch.rand(3, 2, device=device))  # !module-not-moved
        second = trained(nn.Linear(2, 1), torch.rand(3, 2, device=device))  # !module-not-moved
    """,
    "a generator of a generator": """
        def some():
            yield torch.ones(3)  # !tensor-without-device
        def all_of_them():
            yield from some()
        for x in all_of_them():
            print(torch.rand(3, device=device) * x)
    """,
    "a generator expression": """
        x = torch.rand(3, device=device)
        print(sum(x * w for w in (torch.ones(3) for _ in range(2))))  # !tensor-without-device
    """,
    "a decorated function": """
        @torch.no_grad()
        def noise():
            return torch.randn(3)  # !tensor-without-device
        print(torch.rand(3, device=device) + noise())
    """,
    "the project's own decorator": """
        import functools
        def logged(f):
            @functools.wraps(f)
            def wrapper(*args, **kwargs):
                return f(*args, **kwargs)
            return wrapper
        @logged
        def noise(size):
            return torch.randn(size)  # !tensor-without-device
        print(torch.rand(3, device=device) + noise(3))
    """,
    "a dataclass": """
        from dataclasses import dataclass
        @dataclass
        class State:
            mean: torch.Tensor
            count: int = 0
        state = State(torch.zeros(3))  # !tensor-without-device
        print(torch.rand(3, device=device) - state.mean)
    """,
    "a named tuple": """
        from collections import namedtuple
        Step = namedtuple("Step", ["state", "reward"])
        step = Step(torch.zeros(3), 1.0)  # !tensor-without-device
        print(torch.rand(3, device=device) - step.state)
    """,
    "a typed named tuple": """
        from typing import NamedTuple
        class Step(NamedTuple):
            state: torch.Tensor
            reward: float
        step = Step(torch.zeros(3), 1.0)  # !tensor-without-device
        print(torch.rand(3, device=device) - step.state)
    """,
    "a list of tensors": """
        parts = []
        for _ in range(3):
            parts.append(torch.ones(3))  # !tensor-without-device
        print(torch.stack(parts) @ torch.rand(3, device=device))
    """,
    "a dictionary of tensors": """
        table = {"a": torch.ones(3), "b": 3}  # !tensor-without-device
        print(table["a"] + torch.rand(3, device=device))
    """,
    "a dictionary that is filled": """
        table = {}
        for name in "abc":
            table[name] = torch.ones(3)  # !tensor-without-device
        for name, value in table.items():
            print(value + torch.rand(3, device=device))
    """,
    "a comprehension's target": """
        xs = [torch.ones(3) for _ in range(3)]  # !tensor-without-device
        w = torch.rand(3, device=device)
        print([x * w for x in xs])
    """,
    "a while loop": """
        x = torch.ones(3)  # !tensor-without-device
        while x.sum() < 10:
            x = x + torch.rand(3, device=device)
    """,
    "try and except": """
        try:
            x = torch.ones(3)  # !tensor-without-device
        except RuntimeError:
            x = None
        finally:
            print("done")
        print(x + torch.rand(3, device=device))
    """,
    "starred arguments": """
        def add(*xs):
            total = torch.rand(3, device=device)
            for x in xs:
                total = total + x
            return total
        pair = [torch.ones(3), torch.ones(3)]  # !tensor-without-device
        print(add(*pair))
    """,
    "double-starred arguments": """
        def add(a, b):
            return a + b
        options = {"a": torch.ones(3), "b": torch.rand(3, device=device)}  # !tensor-without-device
        print(add(**options))
    """,
    "starred unpacking": """
        first, *rest = torch.ones(3), torch.rand(3, device=device), 4  # !tensor-without-device
        print(first + rest[0])
    """,
    "a parent's forward": """
        class Base(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 3)
            def forward(self, x):
                return self.layer(x) + torch.ones(3)  # !tensor-not-on-input-device
        class Child(Base):
            def forward(self, x):
                return super().forward(x).relu()
        print(Child().to(device)(torch.rand(2, 3, device=device)))
    """,
    "a property": """
        class Data:
            @property
            def weight(self):
                return torch.ones(3)  # !tensor-without-device
        print(Data().weight * torch.rand(3, device=device))
    """,
    "a class attribute": """
        class Data:
            weight = torch.ones(3)  # !tensor-without-device
        print(Data.weight * torch.rand(3, device=device))
    """,
    "a class attribute through self": """
        class Data:
            weight = torch.ones(3)  # !tensor-without-device
            def scaled(self, x):
                return x * self.weight
        print(Data().scaled(torch.rand(3, device=device)))
    """,
    "a static method and a class method": """
        class Make:
            @staticmethod
            def one():
                return torch.ones(3)  # !tensor-without-device
            @classmethod
            def two(cls):
                return cls.one() * 2
        print(Make.two() + torch.rand(3, device=device))
    """,
    "a partial function": """
        from functools import partial
        def scale(w, x):
            return w * x
        double = partial(scale, torch.full((3,), 2.0))  # !tensor-without-device
        print(double(torch.rand(3, device=device)))
    """,
    "a lambda": """
        make = lambda n: torch.ones(n)  # !tensor-without-device
        print(make(3) + torch.rand(3, device=device))
    """,
    "recursion": """
        def grow(x, n):
            if n == 0:
                return x
            return grow(x + torch.ones(3), n - 1)  # !tensor-not-on-input-device
        print(grow(torch.rand(3, device=device), 4))
    """,
    "mutual recursion": """
        def even(x, n):
            return x if n == 0 else odd(x, n - 1)
        def odd(x, n):
            return even(x + torch.ones(3), n - 1)  # !tensor-not-on-input-device
        print(even(torch.rand(3, device=device), 4))
    """,
    "the main guard": """
        def main():
            x = torch.ones(3)  # !tensor-without-device
            print(x + torch.rand(3, device=device))
        if __name__ == "__main__":
            main()
    """,
    "a walrus": """
        if (x := torch.ones(3)) is not None:  # !tensor-without-device
            print(x + torch.rand(3, device=device))
    """,
    "a match statement": """
        match "ones":
            case "ones":
                x = torch.ones(3)  # !tensor-without-device
            case _:
                x = None
        print(x + torch.rand(3, device=device))
    """,
    "a global statement": """
        weight = None
        def build():
            global weight
            weight = torch.ones(3)  # !tensor-without-device
        build()
        print(weight + torch.rand(3, device=device))
    """,
    "a nonlocal statement": """
        def outer():
            weight = None
            def build():
                nonlocal weight
                weight = torch.ones(3)  # !tensor-without-device
            build()
            return weight
        print(outer() + torch.rand(3, device=device))
    """,
    "a keyword argument": """
        def shifted(x, *, by=None):
            return x + by
        print(shifted(torch.rand(3, device=device), by=torch.ones(3)))  # !tensor-without-device
    """,
    "a context manager": """
        class Holder:
            def __enter__(self):
                return torch.ones(3)  # !tensor-without-device
            def __exit__(self, *error):
                pass
        with Holder() as x:
            print(x + torch.rand(3, device=device))
    """,
    "options from the command line": """
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("--size", type=int, default=3)
        args = parser.parse_args()
        x = torch.ones(args.size)  # !tensor-without-device
        print(x + torch.rand(args.size, device=device))
    """,
    "an average of weights": """
        model = nn.Linear(3, 3).to(device)
        average = nn.Linear(3, 3)  # !module-not-moved
        average.load_state_dict(model.state_dict())
        for p, q in zip(average.parameters(), model.parameters()):
            p.data.mul_(0.9).add_(q.data, alpha=0.1)
    """,
    "a partial creation": """
        from functools import partial
        ones = partial(torch.ones, 3)
        print(ones() + torch.rand(3, device=device))  # !tensor-without-device
    """,
    "the target of a process": """
        import torch.multiprocessing as mp
        def work(rank, weight):
            print(rank, torch.rand(3, device=device) * weight)
        if __name__ == "__main__":
            weight = torch.ones(3)  # !tensor-without-device
            mp.Process(target=work, args=(0, weight)).start()
    """,
    "zip and enumerate": """
        xs = [torch.ones(3), torch.ones(3)]  # !tensor-without-device
        w = torch.rand(3, device=device)
        for i, (x, k) in enumerate(zip(xs, range(2))):
            print(i, k, x * w)
    """,
    "a model that stays behind": """
        model = nn.Linear(3, 3)  # !module-not-moved
        print(model(torch.rand(2, 3, device=device)))
    """,
    "a model out of a table": """
        models = {"small": lambda: nn.Linear(3, 3), "large": lambda: nn.Linear(3, 9)}
        model = models["small"]()  # !module-not-moved
        print(model(torch.rand(2, 3, device=device)))
    """,
    "a base class's attribute": """
        class Base:
            def __init__(self):
                self.weight = torch.ones(3)  # !tensor-without-device
        class Child(Base):
            def __init__(self):
                super().__init__()
            def run(self, x):
                return x * self.weight
        print(Child().run(torch.rand(3, device=device)))
    """,
    "a callable object": """
        class Scale:
            def __init__(self):
                self.weight = torch.ones(3)  # !tensor-without-device
            def __call__(self, x):
                return x * self.weight
        scale = Scale()
        print(scale(torch.rand(3, device=device)))
    """,
    "an async function": """
        import asyncio
        async def make():
            return torch.ones(3)  # !tensor-without-device
        async def main():
            print(await make() + torch.rand(3, device=device))
        asyncio.run(main())
    """,
    "parts of a library's model in a class of the project": """
        from torchvision.models.resnet import BasicBlock, ResNet
        class Maps(ResNet):
            def forward(self, x):
                x = self.bn1(self.conv1(x))
                return [g.pow(2).mean(1) for g in (x, self.layer1(x))]
        model = Maps(BasicBlock, [3, 4, 6, 3]).to(device)
        print(model(torch.rand(1, 3, 64, 64)))  # !tensor-without-device
    """,
}

#: Each program that is correct on every device, whole.
RIGHT: dict[str, str] = {
    "entries of a file that may be numbers": """
        net = nn.Linear(2, 2).to(device)
        saved = torch.load("net.pt", map_location="cpu")
        net.load_state_dict(saved["net"])
        loss = net(torch.ones(1, 2, device=device)).sum() * saved["scale"]
        if loss < saved["best"]:
            print(loss.item(), saved["epoch"] + 1)
    """,
    "a buffer that a constructor computes from others": """
        class Codes(nn.Module):
            def __init__(self, bits):
                super().__init__()
                self.register_buffer("mask", 2 ** torch.arange(bits))
                words = torch.arange(2**bits)
                self.register_buffer("book", (words[:, None] & self.mask).float())
            def forward(self, x):
                return x @ self.book
        Codes(2).to(device)(torch.ones(1, 4, device=device))
    """,
    "a keyword that may be among unknown ones": """
        import json
        settings = {k: v for k, v in {"device": device, "dtype": torch.float32}.items()}
        torch.ones(2, 2, **settings) @ nn.Linear(2, 2).to(device).weight
        torch.ones(2, 2, **json.loads(input())) @ nn.Linear(2, 2).to(device).weight
    """,
    "what is tried, and done on the CPU where it fails": """
        def probe():
            try:
                torch.zeros(1, device="cuda")
                return torch.device("cuda")
            except RuntimeError:
                return torch.device("cpu")
        place = probe()
        nn.Linear(2, 1).to(place)(torch.ones(1, 2, device=place))
    """,
    "a cache that is compared with its input": """
        class Mask(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 3)
                self.mask = None
            def forward(self, x):
                if self.mask is None or self.mask.device != x.device:
                    self.mask = torch.ones(3, device=x.device)
                return self.layer(x) * self.mask
        net = Mask()
        x = torch.ones(1, 3)
        net(x)
        if torch.cuda.is_available():
            net, x = net.to(device), x.to(device)
        net(x)
    """,
    "modules of a mapping that move one by one": """
        parts = nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.Linear(2, 1)})
        for part in parts.values():
            part.to(device)
        parts["b"](parts["a"](torch.ones(1, 2, device=device)))
    """,
    "a model that computes before it is moved": """
        model = nn.Linear(3, 2)
        print(model(torch.ones(4, 3)).shape)
        model.to(device)
        print(model(torch.ones(4, 3, device=device)))
    """,
    "lengths in a list": """
        from torch.nn.utils import rnn
        x = torch.rand(2, 4, device=device)
        lengths, order = torch.tensor([3, 4], device=device).sort(descending=True)
        rnn.pack_padded_sequence(x[order], list(lengths), batch_first=True)
    """,
    "a demand for CUDA by those who chose it": """
        import sys
        def use_cuda(number):
            assert torch.cuda.is_available(), "there is no CUDA"
            torch.cuda.set_device(number)
        if "--cuda" in sys.argv and torch.cuda.is_available():
            use_cuda(0)
        if sys.argv[-1] == "cuda":
            assert torch.cuda.is_available()
    """,
    "a library that is not known feeds a model": """
        import playground
        model = nn.Linear(3, 2)
        agent = playground.Agent(model)
        for state, action in playground.Source(agent):
            logits = model(torch.FloatTensor([state]))
            nn.functional.cross_entropy(logits, torch.tensor([action])).backward()
    """,
    "forked processes compute with a model": """
        import torch.multiprocessing as mp
        def work(shared):
            model = nn.Linear(3, 2)
            model.load_state_dict(shared.state_dict())
            print(model(torch.rand(4, 3)).detach().numpy())
        shared = nn.Linear(3, 2).share_memory()
        mp.Process(target=work, args=(shared,)).start()
    """,
    "a process builds its own model": """
        from multiprocessing import Process
        class Worker(Process):
            def run(self):
                model = nn.Linear(3, 2)
                print(model(torch.rand(4, 3)))
        Worker().start()
    """,
    "the sizes in a packed sequence": """
        from torch.nn.utils import rnn
        layer = nn.Embedding(5, 3).to(device)
        x = torch.zeros(2, 4, dtype=torch.long, device=device)
        packed = rnn.pack_padded_sequence(x, [4, 3], batch_first=True)
        print(rnn.PackedSequence(layer(packed.data), packed.batch_sizes))
    """,
    "a partial creation": """
        import torch
        from functools import partial
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        ones = partial(torch.ones, device=device)
        print(ones(3) + torch.rand(3, device=device))
    """,
    "a training loop": """
        import torch
        import torch.nn.functional as F
        from torch import nn, optim
        from torchvision import datasets, transforms
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2d(1, 32, 3)
                self.head = nn.Linear(32 * 26 * 26, 10)
            def forward(self, x):
                x = F.relu(self.conv(x))
                return F.log_softmax(self.head(torch.flatten(x, 1)), dim=1)
        def train(model, device, loader, optimizer, epoch):
            model.train()
            for index, (data, target) in enumerate(loader):
                data, target = data.to(device), target.to(device)
                optimizer.zero_grad()
                loss = F.nll_loss(model(data), target)
                loss.backward()
                optimizer.step()
                print(epoch, index, loss.item())
        def test(model, device, loader):
            model.eval()
            loss = correct = 0
            with torch.no_grad():
                for data, target in loader:
                    data, target = data.to(device), target.to(device)
                    output = model(data)
                    loss += F.nll_loss(output, target, reduction="sum").item()
                    pred = output.argmax(dim=1, keepdim=True)
                    correct += pred.eq(target.view_as(pred)).sum().item()
            print(loss / len(loader.dataset), correct)
        def main():
            use_cuda = torch.cuda.is_available()
            device = torch.device("cuda" if use_cuda else "cpu")
            data = datasets.MNIST("data", train=True, transform=transforms.ToTensor())
            loader = torch.utils.data.DataLoader(data, batch_size=64, shuffle=True)
            model = Net().to(device)
            optimizer = optim.SGD(model.parameters(), lr=0.1)
            for epoch in range(3):
                train(model, device, loader, optimizer, epoch)
                test(model, device, loader)
            torch.save(model.state_dict(), "net.pt")
        if __name__ == "__main__":
            main()
    """,
    "a causal mask that is a buffer": """
        import math
        import torch
        from torch import nn
        from torch.nn import functional as F
        class Attention(nn.Module):
            def __init__(self, width, block):
                super().__init__()
                self.qkv = nn.Linear(width, 3 * width)
                mask = torch.tril(torch.ones(block, block)).view(1, 1, block, block)
                self.register_buffer("mask", mask)
            def forward(self, x):
                q, k, v = self.qkv(x).split(x.size(-1), dim=2)
                att = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
                att = att.masked_fill(self.mask[:, :, : x.size(1), : x.size(1)] == 0, -1e9)
                return F.softmax(att, dim=-1) @ v
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed = nn.Embedding(16, 8)
                self.place = nn.Embedding(32, 8)
                self.blocks = nn.ModuleList([Attention(8, 32) for _ in range(2)])
            def forward(self, index):
                where = torch.arange(index.size(1), device=index.device)
                x = self.embed(index) + self.place(where)
                for block in self.blocks:
                    x = block(x)
                return x
            @torch.no_grad()
            def generate(self, index, steps):
                for _ in range(steps):
                    p = F.softmax(self(index)[:, -1, :], dim=-1)
                    index = torch.cat((index, torch.multinomial(p, 1)), dim=1)
                return index
        device = "cuda" if torch.cuda.is_available() else "cpu"
        model = Model().to(device)
        context = torch.zeros((1, 1), dtype=torch.long, device=device)
        print(model.generate(context, 20)[0].tolist())
    """,
    "a table of words on the host": """
        import torch
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        data = torch.randint(0, 16, (1000,))
        def batch(size, block):
            start = torch.randint(len(data) - block, (size,))
            x = torch.stack([data[i : i + block] for i in start])
            y = torch.stack([data[i + 1 : i + block + 1] for i in start])
            return x.to(device), y.to(device)
        x, y = batch(4, 8)
        print((x == y).float().mean().item())
    """,
    "a replay memory of tuples": """
        import random
        from collections import deque, namedtuple
        import torch
        from torch import nn
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        Step = namedtuple("Step", ("state", "action", "reward"))
        memory = deque([], maxlen=100)
        net = nn.Linear(4, 2).to(device)
        target = nn.Linear(4, 2).to(device)
        target.load_state_dict(net.state_dict())
        state = torch.tensor([0.0] * 4, dtype=torch.float32, device=device).unsqueeze(0)
        for _ in range(10):
            action = net(state).max(1).indices.view(1, 1)
            reward = torch.tensor([1.0], device=device)
            memory.append(Step(state, action, reward))
        batch = Step(*zip(*random.sample(memory, 4)))
        states, actions = torch.cat(batch.state), torch.cat(batch.action)
        q = net(states).gather(1, actions)
        expected = target(states).max(1).values * 0.9 + torch.cat(batch.reward)
        nn.functional.smooth_l1_loss(q, expected.unsqueeze(1)).backward()
        for p, r in zip(target.parameters(), net.parameters()):
            p.data.copy_(0.9 * p.data + 0.1 * r.data)
    """,
    "an average by deepcopy": """
        import copy
        import torch
        from torch import nn
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(3, 3).to(device)
        average = copy.deepcopy(model).eval().requires_grad_(False)
        for p, q in zip(average.parameters(), model.parameters()):
            p.mul_(0.99).add_(q.detach(), alpha=0.01)
        print(average(torch.rand(1, 3, device=device)))
    """,
    "a variational autoencoder": """
        import torch
        from torch import nn
        class VAE(nn.Module):
            def __init__(self):
                super().__init__()
                self.mean, self.spread = nn.Linear(8, 2), nn.Linear(8, 2)
                self.back = nn.Linear(2, 8)
            def forward(self, x):
                mean, spread = self.mean(x), self.spread(x)
                noise = torch.randn_like(spread)
                return self.back(mean + noise * torch.exp(0.5 * spread)), mean
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = VAE().to(device)
        sample = torch.randn(64, 2).to(device)
        print(model.back(sample).cpu().view(64, 8).numpy())
    """,
    "two players": """
        import torch
        from torch import nn
        device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
        maker = nn.Sequential(nn.Linear(4, 8), nn.Tanh()).to(device)
        judge = nn.Sequential(nn.Linear(8, 1), nn.Sigmoid()).to(device)
        fixed = torch.randn(16, 4, device=device)
        loss = nn.BCELoss()
        for real in torch.utils.data.DataLoader(torch.rand(64, 8)):
            real = real.to(device)
            label = torch.full((real.size(0),), 1.0, device=device)
            error = loss(judge(real).view(-1), label)
            error.backward()
            noise = torch.randn(real.size(0), 4, device=device)
            label.fill_(0.0)
            loss(judge(maker(noise).detach()).view(-1), label).backward()
        print(maker(fixed).detach().cpu().numpy())
    """,
    "a recurrent network's state": """
        import torch
        from torch import nn
        from torch.nn.utils.rnn import pack_padded_sequence
        class Tagger(nn.Module):
            def __init__(self):
                super().__init__()
                self.lstm = nn.LSTM(4, 8, batch_first=True)
            def start(self, size):
                weight = next(self.parameters())
                return weight.new_zeros(1, size, 8), weight.new_zeros(1, size, 8)
            def forward(self, x, lengths):
                packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True)
                return self.lstm(packed, self.start(x.size(0)))[0]
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = Tagger().to(device)
        print(model(torch.rand(2, 5, 4, device=device), torch.tensor([5, 3])))
    """,
    "a model that goes to the CPU and back": """
        import torch
        from torch import nn
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        def move(device, *modules):
            return [module.to(device) for module in modules]
        model = nn.Linear(3, 3)
        move(device, model)
        for _ in range(2):
            model(torch.rand(2, 3, device=device))
            move(torch.device("cpu"), model)
            print(model(torch.rand(2, 3)).numpy())
            move(device, model)
    """,
    "distributed training": """
        import os
        import torch
        import torch.distributed as dist
        from torch import nn
        from torch.nn.parallel import DistributedDataParallel as DDP
        rank = int(os.environ["LOCAL_RANK"])
        gpus = torch.cuda.is_available()
        device = f"cuda:{rank}" if gpus else "cpu"
        if gpus:
            torch.cuda.set_device(device)
        dist.init_process_group("nccl" if gpus else "gloo")
        model = DDP(nn.Linear(3, 3).to(device), device_ids=[rank] if gpus else None)
        x = torch.rand(2, 3, device=device)
        loss = model(x).sum()
        dist.all_reduce(loss)
        print(loss.item())
    """,
    "a dataset for workers": """
        import numpy as np
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, Dataset
        class Points(Dataset):
            def __init__(self, count):
                self.points = np.random.rand(count, 3).astype("float32")
            def __len__(self):
                return len(self.points)
            def __getitem__(self, index):
                return torch.from_numpy(self.points[index]), torch.tensor(index)
        def collate(items):
            xs, ys = zip(*items)
            return {"x": torch.stack(xs), "y": torch.stack(ys)}
        def main():
            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            model = nn.Linear(3, 3).to(device)
            for batch in DataLoader(Points(9), collate_fn=collate, num_workers=2):
                batch = {k: v.to(device, non_blocking=True) for k, v in batch.items()}
                print(nn.functional.cross_entropy(model(batch["x"]), batch["y"] % 3))
        if __name__ == "__main__":
            main()
    """,
    "a checkpoint": """
        import torch
        from torch import nn
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        state = torch.load("model.pt", map_location=device)
        model = nn.Linear(3, 3)
        model.load_state_dict(state["model"])
        model.to(device)
        optimizer = torch.optim.Adam(model.parameters())
        optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["rng"].cpu())
        print(model(torch.rand(1, 3).to(device)))
    """,
    "diffusion's tables": """
        import torch
        from torch import nn
        class Diffusion(nn.Module):
            def __init__(self, model, steps):
                super().__init__()
                self.model, self.steps = model, steps
                betas = torch.linspace(1e-4, 0.02, steps)
                self.register_buffer("bars", torch.cumprod(1.0 - betas, dim=0))
            def forward(self, x):
                t = torch.randint(0, self.steps, (x.shape[0],), device=x.device)
                noise = torch.randn_like(x)
                bar = self.bars.gather(-1, t).reshape(-1, 1)
                noisy = bar.sqrt() * x + (1 - bar).sqrt() * noise
                return nn.functional.mse_loss(self.model(noisy), noise)
            @torch.no_grad()
            def sample(self, shape):
                x = torch.randn(shape, device=self.bars.device)
                for i in reversed(range(self.steps)):
                    t = torch.full((shape[0],), i, device=x.device, dtype=torch.long)
                    x = x - self.model(x) * self.bars[t].view(-1, 1)
                return x
        device = "cuda" if torch.cuda.is_available() else "cpu"
        net = Diffusion(nn.Linear(4, 4), 10).to(device)
        net(torch.rand(8, 4, device=device)).backward()
        print(net.sample((2, 4)).cpu().numpy())
    """,
    "an agent with a device": """
        import numpy as np
        import torch
        from torch import nn
        class Agent:
            def __init__(self, device):
                self.device = device
                self.actor = nn.Linear(4, 2).to(device)
            @torch.no_grad()
            def act(self, state):
                state = torch.as_tensor(state, dtype=torch.float32, device=self.device)
                return self.actor(state).cpu().numpy()
            def learn(self, states, returns):
                states = torch.from_numpy(states).float().to(self.device)
                returns = torch.tensor(returns, device=self.device)
                weight = torch.ones_like(returns)
                (self.actor(states).sum(1) * returns * weight).mean().backward()
        agent = Agent(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
        agent.act(np.zeros(4))
        agent.learn(np.zeros((2, 4)), [1.0, 2.0])
    """,
    "mixed precision": """
        import torch
        from torch import nn
        device = "cuda" if torch.cuda.is_available() else "cpu"
        model = nn.Linear(3, 3).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler(device, enabled=device == "cuda")
        for _ in range(3):
            with torch.autocast(device_type=device, enabled=device == "cuda"):
                loss = model(torch.rand(2, 3, device=device)).sum()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
    """,
    "a graph's layers": """
        import torch
        from torch import nn
        class Layer(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.weight = nn.Parameter(torch.empty(width, width))
                self.bias = nn.Parameter(torch.zeros(width))
                nn.init.xavier_uniform_(self.weight)
            def forward(self, x, adj):
                return torch.spmm(adj, x @ self.weight) + self.bias
        def load():
            edges = torch.tensor([[0, 1], [1, 0]])
            adj = torch.sparse_coo_tensor(edges, torch.ones(2), (2, 2))
            return adj, torch.rand(2, 3), torch.arange(2)
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        adj, x, index = load()
        adj, x, index = adj.to(device), x.to(device), index.to(device)
        model = Layer(3).to(device)
        print(model(x, adj)[index].cpu())
    """,
    "a transfer of style": """
        import torch
        from torch import nn, optim
        torch.set_default_device("cuda" if torch.cuda.is_available() else "cpu")
        content = torch.rand(1, 3, 8, 8)
        image = content.clone().requires_grad_(True)
        optimizer = optim.LBFGS([image])
        def closure():
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(image, content)
            loss.backward()
            return loss
        optimizer.step(closure)
    """,
    "a default device": """
        import torch
        from torch import nn
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 3)
            def forward(self, x):
                return self.layer(x)
        torch.set_default_device("cuda" if torch.cuda.is_available() else "cpu")
        print(nn.Sequential(Net(), nn.Linear(3, 1))(torch.rand(2, 3)).tolist())
    """,
    "an autograd function": """
        import torch
        class Sign(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return torch.where(x > 0, torch.ones_like(x), -torch.ones_like(x))
            @staticmethod
            def backward(ctx, grad):
                (x,) = ctx.saved_tensors
                return grad * (x.abs() < 1)
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        Sign.apply(torch.rand(3, device=device, requires_grad=True)).sum().backward()
    """,
    "a plot of losses": """
        import matplotlib.pyplot as plt
        import torch
        from torch import nn
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(1, 1).to(device)
        losses = []
        for _ in range(9):
            loss = model(torch.rand(4, 1, device=device)).pow(2).mean()
            losses.append(loss.item())
        grid = torch.linspace(0, 1, 50)
        with torch.no_grad():
            curve = model(grid.unsqueeze(1).to(device)).squeeze(1).cpu()
        plt.plot(grid.numpy(), curve.numpy())
        plt.plot(losses)
    """,
    "a search over beams": """
        import torch
        from torch import nn
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 4).to(device)
        scores = torch.zeros(3, device=device)
        words = [[1]] * 3
        for _ in range(5):
            last = torch.tensor([w[-1] for w in words], device=device)
            out = model(nn.functional.one_hot(last, 4).float()).log_softmax(-1)
            total = scores.unsqueeze(1) + out
            scores, picked = total.view(-1).topk(3)
            rows = torch.div(picked, 4, rounding_mode="floor")
            words = [words[r] + [c] for r, c in zip(rows.tolist(), (picked % 4).tolist())]
        print(words, scores.tolist())
    """,
    "a helper that follows": """
        import torch
        def mask(lengths, size):
            steps = torch.arange(size, device=lengths.device)
            return steps[None, :] < lengths[:, None]
        def fill(x, value=0.0):
            return torch.full_like(x, value) + x.new_ones(x.shape) * torch.tensor(2.0)
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        x = torch.rand(2, 3).to(device)
        print(fill(x)[mask(torch.tensor([1, 2], device=device), 3)], mask(torch.tensor([1]), 2))
    """,
    "confusion on the host": """
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(3, 3).to(device)
        matrix = torch.zeros(3, 3)
        data = TensorDataset(torch.rand(9, 3), torch.arange(9) % 3)
        for x, y in DataLoader(data):
            guess = model(x.to(device)).argmax(1).cpu()
            for t, p in zip(y.view(-1), guess.view(-1)):
                matrix[t.long(), p.long()] += 1
        print(matrix.diag() / matrix.sum(1))
    """,
    "processes that share a model": """
        import torch
        import torch.multiprocessing as mp
        from torch import nn
        def work(rank, model, device):
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(torch.rand(2, 3, device=device)).sum().backward()
            optimizer.step()
        if __name__ == "__main__":
            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            mp.set_start_method("spawn")
            model = nn.Linear(3, 3).to(device)
            model.share_memory()
            workers = [mp.Process(target=work, args=(i, model, device)) for i in range(2)]
            for worker in workers:
                worker.start()
    """,
    "what a file keeps of a number is a number": """
        import numpy as np
        import torch
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        step = 0
        best = 0.5
        saved = torch.load("saved.pt", map_location=device)
        step = saved["step"]
        if step:
            best = saved["best"]
        total = torch.rand(3, device=device) * step
        print(np.minimum(step * 0.1, step**-0.5), np.maximum(best, 0.5))
    """,
    "normal numbers around what nobody hands in": """
        import torch
        from torch import nn
        class Noise(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = nn.Parameter(torch.ones(3))
            def forward(self, x=None):
                noise = torch.normal(mean=torch.zeros_like(x), std=torch.ones_like(x))
                return (x + noise) * self.scale
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = Noise().to(device)
        print(model(*[]), model(torch.rand(3, device=device)))
    """,
    "texts and lengths of losses that read them on the host": """
        import torch
        import warpctc_pytorch
        from torch import nn
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 5).to(device)
        x = torch.rand(10, 2, 4, device=device)
        texts = torch.ones(6, dtype=torch.int32)
        sizes = torch.IntTensor([10] * 2)
        lengths = torch.IntTensor([3, 3])
        for criterion in nn.CTCLoss().to(device), warpctc_pytorch.CTCLoss():
            print(criterion(model(x).log_softmax(2), texts, sizes, lengths))
        criterion = warpctc_pytorch.CTCLoss().to(device)
        print(criterion(model(x), texts, sizes, lengths))
    """,
    "members of a list that become arrays": """
        import numpy as np
        import torch
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        def arrays(values):
            for i in range(len(values)):
                if torch.is_tensor(values[i]):
                    values[i] = values[i].cpu().numpy()
            return values
        for value in arrays([torch.rand(3, device=device)]):
            print(np.reshape(value, (-1, 1)))
        values = arrays([torch.rand(3, device=device), np.ones(3)])
        for i in range(len(values)):
            values[i] = np.reshape(values[i], (-1, 1))
    """,
    "batches whose members are moved one by one": """
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, Dataset, TensorDataset
        from elsewhere import batches
        class Named(Dataset):
            def __len__(self):
                return 4
            def __getitem__(self, index):
                return {"x": torch.ones(3), "y": torch.ones(1)}
        def train(model, loader, device):
            for batch in loader:
                for key in batch:
                    batch[key] = batch[key].to(device)
                x = batch["x"]
                print((model(x) - batch["y"]).sum())
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(3, 1).to(device)
        train(model, DataLoader(Named()), device)
        train(model, batches, device)
        pairs = TensorDataset(torch.rand(4, 3), torch.rand(4, 1))
        for batch in DataLoader(pairs):
            for i in range(len(batch)):
                batch[i] = batch[i].to(device)
            print((model(batch[0]) - batch[1]).sum())
        for batch in DataLoader(pairs):
            for i, part in enumerate(batch):
                batch[i] = part.to(device)
            x, y = batch
            print((model(x) - y).sum())
    """,
    "a cache whose key has the device in a text": """
        import torch
        from torch.utils.data import DataLoader, Dataset
        windows = {}
        def spectrum(wave, size):
            where = str(wave.dtype) + "_" + str(wave.device)
            key = str(size) + "_" + where
            if key not in windows:
                windows[key] = torch.hann_window(size).to(device=wave.device)
            return torch.stft(wave, size, window=windows[key], return_complex=True)
        class Waves(Dataset):
            def __len__(self):
                return 4
            def __getitem__(self, index):
                return spectrum(torch.ones(64), 8).abs()
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        net = torch.nn.Linear(33, 2).to(device)
        for x in DataLoader(Waves()):
            net(x.to(device))
            spectrum(torch.ones(64, device=device), 8)
    """,
    "a cache with a value for each device": """
        import numpy as np
        import torch
        from torch.utils.data import DataLoader, Dataset
        from elsewhere import model
        windows = {}
        def spectrum(y, size):
            if size not in windows:
                windows[str(size) + str(y.device)] = torch.hann_window(size).to(y.device)
            return torch.stft(y, size, window=windows[str(size) + str(y.device)])
        class Noise(Dataset):
            def __len__(self):
                return 4
            def __getitem__(self, index):
                audio = torch.FloatTensor(np.ones(8))
                return audio, spectrum(audio, 8)
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        for epoch in range(2):
            for x, y in DataLoader(Noise(), num_workers=2):
                print(spectrum(model(x.to(device)), 8) - y.to(device))
        for x, y in DataLoader(Noise(), num_workers=2):
            print(spectrum(model(x.to(device)), 8) - y.to(device))
    """,
    "a helper that moves in workers to where its input is": """
        import numpy as np
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, Dataset
        windows = {}
        def spectrum(y, size):
            if size not in windows:
                window = torch.from_numpy(np.hanning(size)).float().to(y.device)
                windows[str(size) + str(y.device)] = window
            return y * windows[str(size) + str(y.device)]
        class Noise(Dataset):
            def __init__(self, device=None):
                self.device = device
            def __len__(self):
                return 4
            def __getitem__(self, index):
                audio = torch.FloatTensor(np.ones(8))
                return audio, spectrum(audio, 8)
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(8, 8).to(device)
        for x, y in DataLoader(Noise(device), num_workers=2):
            print(spectrum(model(x.to(device)), 8) - y.to(device))
    """,
}

#: Each project of several files.
PROJECTS: dict[str, dict[str, str]] = {
    "a choice of a script that shares a helper with another": {
        "steps.py": """
            import torch
            def put(x, gpu):
                return x.cuda(gpu) if gpu is not None else x
            def twice(x):
                return x * 2
        """,
        "chosen.py": """
            import argparse
            import torch
            from steps import put
            parser = argparse.ArgumentParser()
            parser.add_argument("--gpu", type=int)
            args = parser.parse_args()
            print(put(torch.ones(2), args.gpu))
        """,
        "plain.py": """
            import torch
            from steps import twice
            print(twice(torch.ones(2).cuda()))  # !hard-coded-device
        """,
    },
    "a relative import": {
        "pkg/__init__.py": "",
        "pkg/make.py": """
            import torch
            def _weight():
                return torch.ones(3)  # !tensor-without-device
        """,
        "pkg/run.py": """
            import torch
            from .make import _weight
            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            print(_weight() + torch.rand(3, device=device))
        """,
    },
    "a star import": {
        "make.py": """
            import torch
            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            def weight():
                return torch.ones(3)  # !tensor-without-device
        """,
        "run.py": """
            from make import *
            print(weight() + torch.rand(3, device=device))
        """,
    },
    "a cyclic import": {
        "a.py": """
            import torch
            import b
            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            def start():
                return b.step(torch.rand(3, device=device))
            if __name__ == "__main__":
                print(start())
        """,
        "b.py": """
            import torch
            import a
            def step(x):
                return x + torch.ones(3)  # !tensor-not-on-input-device
        """,
    },
    "an attribute of a package": {
        "lib/__init__.py": "from lib.core import Scale as Scaled\n",
        "lib/core.py": """
            import torch
            class Scale:
                def __init__(self):
                    self.weight = torch.ones(3)  # !tensor-without-device
                def __call__(self, x):
                    return x * self.weight
        """,
        "run.py": """
            import torch
            import lib
            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            scale = lib.Scaled()
            print(scale(torch.rand(3, device=device)))
        """,
    },
    "a default that another process is told": {
        "net.py": """
            import torch
            from torch import nn
            class Scale(nn.Module):
                def __init__(self, size):
                    super().__init__()
                    self.weight = nn.Parameter(torch.Tensor(size))
                def forward(self, x):
                    return x * self.weight
        """,
        "show.py": """
            import argparse
            import numpy as np
            import torch
            from net import Scale
            parser = argparse.ArgumentParser()
            parser.add_argument("--cuda", action="store_true")  # !device-option-unread
            args = parser.parse_args()
            model = Scale(3)  # !module-not-moved
            print(model(torch.from_numpy(np.ones(3))))  # !numpy-boundary
        """,
        "train.py": """
            import numpy as np
            import torch
            from net import Scale
            torch.set_default_tensor_type("torch.cuda.FloatTensor")  # !cuda-only-api
            model = Scale(3)
            print(model(torch.from_numpy(np.ones(3))))  # !numpy-boundary
        """,
    },
}


@pytest.fixture
def templates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let templates stand for calls as soon as they can, as in large programs."""
    monkeypatch.setattr(functions, "_FREE", 0)


def found(files: dict[str, str]) -> set[tuple[str, int, str]]:
    """Return the path, line and rule of everything that is wrong in a project."""
    project = Project([source.from_text(text, path) for path, text in files.items()])
    findings = check(project, Config())
    assert not project.errors
    return {(f.path, f.span.line, f.rule) for f in findings if is_wrong(f)}


def marked(files: dict[str, str]) -> set[tuple[str, int, str]]:
    """Return the path, line and rule of every marked line."""
    return {
        (path, text.count("\n", 0, match.start()) + 1, match[1])
        for path, text in files.items()
        for match in _MARK.finditer(text)
    }


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found_and_nothing_else(name: str) -> None:
    files = {"main.py": HEAD + dedent(WRONG[name])}
    assert marked(files)
    assert found(files) == marked(files)


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_found_in_correct_code(name: str) -> None:
    assert found({"main.py": dedent(RIGHT[name])}) == set()


@pytest.mark.parametrize("name", PROJECTS)
def test_values_are_followed_across_files(name: str) -> None:
    files = {path: dedent(text) for path, text in PROJECTS[name].items()}
    assert marked(files)
    assert found(files) == marked(files)


def test_what_is_written_to_an_array_would_not_reach_a_copy() -> None:
    text = HEAD + dedent(WRONG["an array over a tensor that is written to"])
    (finding,) = check(Project([source.from_text(text, "main.py")]), Config())
    assert finding.fix is None
    assert "no longer to the tensor" in finding.unfixed


@pytest.mark.parametrize("many", ["on the host", "on the device"])
def test_a_call_behind_those_that_are_followed_gives_what_comes_of_its_arguments(
    many: str, templates: None
) -> None:
    """A long function is followed a dozen times: then one of them speaks for the others."""
    helper = "def mixed(x, y):\n    total = x + y\n" + "    total = total * 2\n" * 20
    helper += "    return total, [x.sum()]\n"
    host = "torch.rand(3)"
    there = "torch.rand(3, device=device)"
    some, other = (host, there) if many == "on the host" else (there, host)
    calls = "".join(f"mixed({some}, {some})\n" for _ in range(20))
    text = f"{HEAD}{helper}{calls}both, (one,) = mixed({other}, {other})\n"
    mark = "  # !tensor-without-device" if other == there else ""
    text += f"print(both + torch.ones(3)){mark}\nprint(one + torch.ones(3)){mark}\n"
    assert found({"main.py": text}) == marked({"main.py": text})


def test_a_call_behind_those_that_are_followed_is_for_the_device_that_it_is_given(
    templates: None,
) -> None:
    """What one call returns is not where another one put it, also inside an instance."""
    text = HEAD + dedent("""\
        from typing import NamedTuple
        class Sample(NamedTuple):
            some: torch.Tensor
        def sample(rows, device):
            size = 3
        """)
    text += "    size = size + 1\n" * 20
    text += "    return Sample(torch.as_tensor(rows, device=device))\n"
    text += "sample([0.5], device)\n" * 20
    text += "host, there = sample([0.5], torch.device('cpu')), sample([0.5], device)\n"
    text += "print(host.some.numpy())\nprint(there.some.numpy())\n"
    assert found({"main.py": text}) == {("main.py", text.count("\n"), "not-moved-to-cpu")}


def test_a_call_behind_those_that_are_followed_is_for_the_class_that_it_is_given(
    templates: None,
) -> None:
    text = HEAD + dedent("""\
        class There:
            place = device
        class Double:
            place = torch.float64
        def made(kind):
            total = torch.ones(3)
        """)
    text += "    total = total * 2\n" * 20 + "    return total.to(kind.place)\n"
    text += "made(Double)\n" * 20
    text += "made(There) + torch.ones(3, device=device)\nmade(Double) + torch.ones(3)\n"
    assert found({"main.py": text}) == set()
    wrong = text.replace("made(Double) +", "made(There) +") + "torch.ones(3)\n"
    assert found({"main.py": wrong}) == {
        ("main.py", wrong.count("\n") - 1, "tensor-without-device")
    }


def test_what_is_no_tensor_where_a_test_says_so_is_none() -> None:
    text = HEAD + dedent("""\
        import numpy as np
        from somewhere import dataset
        from torch.utils.data import DataLoader
        model = nn.Linear(3, 3).to(device)
        def copied(x):
            return x.clone() if isinstance(x, torch.Tensor) else np.copy(x)
        for batch in DataLoader(dataset):
            x = batch["x"].to(device)
            model(x)
            print(copied(x) + x)
        """)
    assert found({"main.py": text}) == set()
    wrong = text.replace("else np.copy(x)", "else x", 1) + "    np.copy(x)\n"
    assert found({"main.py": wrong}) == {("main.py", wrong.count("\n"), "not-moved-to-cpu")}
