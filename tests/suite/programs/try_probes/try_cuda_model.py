import torch
from torch import nn


def run(device):
    torch.manual_seed(0)
    net = nn.Linear(3, 1).to(device)
    return net(torch.ones(2, 3, device=device)).sum().item()


try:
    result = run("cuda")
except (RuntimeError, AssertionError):
    result = run("cpu")
print(f"{result:.4f}")
