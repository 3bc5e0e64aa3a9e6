import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)).to(device)
table = np.zeros((2, 4))
for step in range(2):
    model.zero_grad()
    model(torch.ones(2, 3, device=device)).sum().backward()
    for column, p in enumerate(model.parameters()):
        table[step, column] = p.grad.norm(2).numpy()
print(np.round(table.sum(), 3))
