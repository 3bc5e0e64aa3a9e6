import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)
        self.shift = nn.Parameter(torch.zeros(1))
        self.reset()

    def reset(self):
        with torch.no_grad():
            self.shift.data.copy_(torch.rand(1) - 0.5)

    def forward(self, x, update=False):
        if update:
            self.reset()
        return self.layer(x) + self.shift
