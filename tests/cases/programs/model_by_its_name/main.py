import importlib
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader


def load(name):
    kind = getattr(importlib.import_module("models".lower()), name)
    return kind(3).double()


def windows(rows):
    found = []
    for i, _ in enumerate(rows):
        found.append(rows[i - 2 : i] if i >= 2 else torch.cat([rows[0].repeat(2 - i, 1), rows[0:i]]))
    return torch.stack(found)


def step(model, data, training=True):
    measure = nn.MSELoss(reduction="mean" if training else "none")
    out = torch.stack([model(x) for x in data])
    loss = measure(out, data)
    if training:
        loss.backward()
        return loss.item() > 0
    return loss.detach().numpy().shape, out.detach().numpy().shape


if __name__ == "__main__":
    torch.manual_seed(0)
    first, second = torch.rand(8, 3).double(), torch.rand(8, 3).double()
    train, test = next(iter(DataLoader(first, 8))), next(iter(DataLoader(second, 8)))
    model = load(sys.argv[1] if len(sys.argv) > 1 else "Net")
    train, test = windows(train), windows(test)
    print(step(model, train), step(model, test, training=False))
