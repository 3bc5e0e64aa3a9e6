import torch
from torch import nn


def best():
    for name in ("cuda", "cpu"):
        try:
            torch.zeros(1, device=name)
        except (RuntimeError, AssertionError):
            continue
        return torch.device(name)


device = best()
torch.manual_seed(0)
net = nn.Linear(2, 1).to(device)
print(net(torch.ones(3, 2, device=device)).shape)
