import enum

import torch
from torch import nn


class Mode(enum.Enum):
    TRAIN = enum.auto()
    EVAL = enum.auto()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, x, mode):
        y = self.lin(x)
        if mode is Mode.TRAIN:
            return y + torch.zeros_like(y).normal_(std=0.0)
        return y


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = Net().to(device)
x = torch.ones(2, 3, device=device)
print([f"{net(x, mode).sum().item():.4f}" for mode in Mode])
