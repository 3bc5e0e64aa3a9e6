import importlib

import torch
from torch import nn

library = importlib.import_module("library".lower())
model = nn.Linear(3, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
solver = library.Solver(model)
for _ in range(3):
    x = torch.rand(4, 3)
    noise = torch.rand(4, 3) @ torch.rand(3, 3)
    loss = solver.loss(x, noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
