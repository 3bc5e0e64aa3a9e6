import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
rng = np.random.default_rng(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
store = torch.randn(16, 4)
priority = np.ones(16)
net = nn.Linear(4, 1).to(device)
for _ in range(3):
    rows = rng.choice(16, 6, p=priority / priority.sum())
    error = net(store[torch.from_numpy(rows)].to(device)).abs().squeeze(1)
    priority[rows] = error.detach().cpu().numpy() + 0.01
print(np.round(priority.sum(), 3))
