import functools
import inspect

import torch
from torch import nn


def same_device(fn):
    @functools.wraps(fn)
    def inner(x, *args, device=None, **kwargs):
        return fn(x, *args, device=x.device if device is None else device, **kwargs)

    return inner


@same_device
def add_ramp(x, scale, device):
    return x + scale * torch.linspace(0, 1, x.size(-1), device=device)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 1).to(device)
print(f"{net(add_ramp(torch.zeros(2, 3, device=device), 2.0)).sum().item():.4f}", bool(inspect.signature(add_ramp)))
