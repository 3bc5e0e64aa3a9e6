import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self, size, out):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size, out))

    def forward(self, x):
        return x @ self.weight
