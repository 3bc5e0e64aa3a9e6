import torch
from torch import nn


class SoftTree(nn.Module):
    def __init__(self, features, depth):
        super().__init__()
        self.depth = depth
        self.gates = nn.Linear(features, 2**depth - 1)
        self.leaves = nn.Parameter(torch.linspace(-1, 1, 2**depth))

    def forward(self, x):
        gate = self.gates(x).sigmoid()
        mu = x.new_ones(len(x), 1)
        begin, end = 0, 1
        for level in range(self.depth):
            g = gate[:, begin:end]
            mu = torch.stack([mu * g, mu * (1 - g)], 2).flatten(1)
            begin, end = end, end + 2 ** (level + 1)
        return mu @ self.leaves


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print([round(v, 4) for v in SoftTree(3, 2).to(device)(torch.eye(3, device=device)).tolist()])
