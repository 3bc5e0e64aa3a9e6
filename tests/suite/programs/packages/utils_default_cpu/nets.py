import torch
from torch import nn


class Mlp(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, 2))
        self.prior = torch.tensor([0.4, 0.6]).log()

    def forward(self, x):
        return self.body(x) + self.prior

    def loss(self, x, y):
        return nn.functional.cross_entropy(self(x), y)
