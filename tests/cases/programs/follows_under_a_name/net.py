import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 1)

    def grid(self, count):
        x = torch.linspace(-1, 1, count)
        y = torch.linspace(-2, 2, count)
        return self.layer(torch.stack([x, y], dim=1))
