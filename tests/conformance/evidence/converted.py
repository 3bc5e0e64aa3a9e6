"""The part of the family that is for the CPU: a training whose values end where only the CPU reads.

What `fix` writes has to run on the accelerator, and say there what the program said before. It may
write nothing and say what is missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.conformance.evidence.family import Program, filled

HEAD = """\
import json
import pickle
from collections import Counter, deque

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 5)
        self.last = nn.Linear(5, 3)

    def forward(self, x):
        hidden = torch.relu(self.first(x))
        return self.last(hidden), hidden


torch.manual_seed(0)
rows, labels = torch.randn(8, 4), torch.randint(0, 3, (8,))
loader = DataLoader(TensorDataset(rows, labels), batch_size=4)
table = np.arange(12.0)
weights = torch.tensor([0.2, 0.3, 0.5])
eye = torch.eye(3)
host = torch.zeros(2, 4)
"""

#: How the training hands on what it has; `SINK` consumes `v`, and `VALUE` is what it has.
WAYS = {
    "at once": """
        net = Net()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for i, (x, y) in enumerate(loader):
            out, hidden = net(x)
            loss = F.cross_entropy(out, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            v = VALUE
            SINK
    """,
    "in functions": """
        def consume(v, i):
            SINK
        def train(net, loader, optimizer):
            for i, (x, y) in enumerate(loader):
                out, hidden = net(x)
                loss = F.cross_entropy(out, y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                consume(VALUE, i)
        def main():
            net = Net()
            train(net, loader, torch.optim.SGD(net.parameters(), lr=0.1))
        if __name__ == "__main__":
            main()
    """,
    "after the loop": """
        def main():
            net = Net()
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            kept = []
            for x, y in loader:
                out, hidden = net(x)
                loss = F.cross_entropy(out, y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                kept.append(VALUE)
            for i, v in enumerate(kept):
                SINK
        main()
    """,
    "in an object": """
        class Trainer:
            def __init__(self, net):
                self.net = net
                self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                self.last = None
            def step(self, x, y):
                net = self.net
                out, hidden = net(x)
                loss = F.cross_entropy(out, y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.last = VALUE
                return {"loss": loss, "out": out}
            def show(self, i):
                v = self.last
                SINK
        trainer = Trainer(Net())
        for i, (x, y) in enumerate(loader):
            trainer.step(x, y)
            trainer.show(i)
    """,
    "given back": """
        def step(net, optimizer, x, y):
            out, hidden = net(x)
            loss = F.cross_entropy(out, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss.item(), VALUE
        def main():
            net = Net()
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            for i, batch in enumerate(loader):
                _, v = step(net, optimizer, batch[0], batch[1])
                SINK
        main()
    """,
    "evaluated": """
        def train(net):
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            for x, y in loader:
                loss = F.cross_entropy(net(x)[0], y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            return loss
        net = Net()
        loss = train(net)
        net.eval()
        with torch.no_grad():
            for i, (x, y) in enumerate(loader):
                out, hidden = net(x)
                v = VALUE
                SINK
    """,
}

#: What a training has: values of some rows, and of one row each.
VALUES = {
    "the input": "x",
    "the labels": "y",
    "the output": "out",
    "the output without gradient": "out.detach()",
    "what is likeliest": "out.argmax(1)",
    "how likely": "F.softmax(out, dim=1).detach()",
    "a mask": "(out > 0)",
    "the hidden state": "hidden.detach()",
    "weights": "net.last.weight.detach()",
    "the gradient": "net.last.weight.grad",
    "who is right": "(out.argmax(1) == y)",
    "the rows' losses": 'F.cross_entropy(out, y, reduction="none").detach()',
    "the largest": "out.max(1)[0].detach()",
    "both": "torch.cat([x, out], dim=1).detach()",
}

_ROUND = "print(round(float(s), 2))"
SINKS = {
    "numpy": f"s = v.detach().numpy().astype(float).sum()\n{_ROUND}",
    "an array": f"s = np.asarray(v.detach()).astype(float).sum()\n{_ROUND}",
    "a function of numpy": f"s = np.sum(v.detach().numpy() * 1.0)\n{_ROUND}",
    "a list": f"s = sum(map(float, v.flatten().tolist()))\n{_ROUND}",
    "an item": f"s = v.float().sum().item()\n{_ROUND}",
    "an element of an array": "table[i] = v.detach().float().sum()\nprint(np.round(table[i], 2))",
    "a list of tensors": "values = [v.detach().float().sum(), v.detach().float().mean()]\n"
    "print(np.round(np.array(values, dtype=float).sum(), 2))",
    "a mean of tensors": "s = np.mean([float(one.float().sum()) for one in v.detach()])\n" + _ROUND,
    "json": "print(json.dumps(round(float(v.float().sum()), 2)))",
    "a counter": "counts = Counter(round(float(one), 2) for one in v.flatten())\n"
    "print(sorted(counts.items()))",
    "a pickle": "w = pickle.loads(pickle.dumps(v.detach()))\nprint(w.shape, w.dtype)",
    "a row of the host": "host[i] = v.detach().float().flatten()[:4]\n"
    "print(round(float(host.sum()), 2))",
    "joined with what is there": "w = torch.cat([host.flatten(), v.detach().float().flatten()])\n"
    "print(round(float(w.sum()), 2))",
    "an index of an array": "s = table[v.detach().long().abs().clamp(max=2).numpy()].sum()\n"
    + _ROUND,
    "an index of a tensor": "s = weights[v.detach().long().abs().clamp(max=2)].sum()\n" + _ROUND,
    "of one-hot rows": "s = eye[v.detach().long().abs().clamp(max=2).flatten()].sum()\n" + _ROUND,
    "compared": "s = (v.detach().float() > torch.tensor(0.5)).sum()\n" + _ROUND,
    "compared with rows": "s = (v.detach().float().flatten()[:3] > weights).sum()\n" + _ROUND,
    "with noise": "s = (v.detach().float() + 0 * torch.randn(v.shape)).sum()\n" + _ROUND,
    "with ones": "w = v.detach().float() * torch.ones(v.shape[-1])\ns = w.sum()\n" + _ROUND,
    "the best": "best = torch.tensor(-1e9)\nbest = torch.max(best, v.detach().float().max())\n"
    "s = best\n" + _ROUND,
    "a queue": "queue = deque(maxlen=2)\nqueue.append(v.detach().float())\n"
    "s = torch.stack(list(queue)).sum()\n" + _ROUND,
    "a new tensor of values": "w = torch.tensor([float(v.float().sum()), 1.0])\n"
    "s = (w * weights[:2]).sum()\n" + _ROUND,
    "a new tensor beside it": "w = torch.tensor([1.0])\ns = (v.detach().float().sum() * w).sum()\n"
    + _ROUND,
    "sorted": "order = np.argsort(v.detach().float().flatten().numpy())\nprint(order[:2])",
    "a text": 'print(f"{float(v.float().mean()):.2f}")',
    "shown": "print(np.round(v.detach().float().numpy(), 1).tolist())",
    "filled in place": "w = torch.zeros(v.shape)\nw.copy_(v.detach().float())\ns = w.sum()\n"
    + _ROUND,
    "by positions": "n = torch.arange(v.shape[0])\ns = v.detach().float()[n].sum()\n" + _ROUND,
    "masked": "w = torch.ones(v.shape)\nw[v.detach() > 0] = 0\ns = w.sum()\n" + _ROUND,
}


def programs() -> Iterator[Program]:
    """Yield every program: each value, in each way, with each sink."""
    for value, code in VALUES.items():
        for way, text in WAYS.items():
            for sink, use in SINKS.items():
                yield Program(
                    f"{value}, {way}, {sink}", HEAD + "\n\n" + filled(text, use, VALUE=code)
                )
