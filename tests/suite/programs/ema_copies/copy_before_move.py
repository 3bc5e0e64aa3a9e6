import copy

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
shadow = copy.deepcopy(model)
model.to(device)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(32, 4, device=device), torch.randn(32, 1, device=device)
for _ in range(5):
    loss = nn.functional.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for s, p in zip(shadow.parameters(), model.parameters()):
            s.mul_(0.9).add_(p, alpha=0.1)
print(f"{loss.item():.4f} {nn.functional.mse_loss(shadow(x), y).item():.4f}")
