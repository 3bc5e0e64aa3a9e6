import functools

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def on_device(fn):
    @functools.wraps(fn)
    def inner(*args):
        return fn(*(a.to(device) if torch.is_tensor(a) else a for a in args))

    return inner


torch.manual_seed(0)
model = nn.Linear(3, 2).to(device)


@on_device
def step(x, y, scale):
    return nn.functional.cross_entropy(model(x), y) * scale


print(f"{step(torch.ones(2, 3), torch.tensor([0, 1]), 2.0).item():.4f}")
