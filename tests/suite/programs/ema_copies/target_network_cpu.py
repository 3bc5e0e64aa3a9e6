import copy

import torch
from torch import nn

torch.manual_seed(0)
online = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 4))
target = copy.deepcopy(online)
for p in target.parameters():
    p.requires_grad = False
predictor = nn.Linear(4, 4)
opt = torch.optim.Adam([*online.parameters(), *predictor.parameters()], lr=1e-2)
for step in range(10):
    x = torch.randn(16, 6)
    a, b = x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)
    loss = 2 - 2 * nn.functional.cosine_similarity(predictor(online(a)), target(b)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    for t, o in zip(target.parameters(), online.parameters()):
        t.data.lerp_(o.data, 0.01)
print(f"{loss.item():.4f}")
