import functools
import operator

import torch
from torch import nn

torch.manual_seed(0)
heads = nn.ModuleList(nn.Linear(3, 1) for _ in range(3))
opt = torch.optim.SGD(heads.parameters(), lr=0.05)
for _ in range(5):
    x = torch.randn(6, 3)
    losses = [head(x).add(-i).pow(2).mean() for i, head in enumerate(heads)]
    total = functools.reduce(operator.add, losses)
    opt.zero_grad()
    total.backward()
    opt.step()
print(f"{total.item():.4f}")
