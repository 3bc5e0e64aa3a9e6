import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
sobel = torch.tensor([[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]]) / 8
kernels = torch.stack([sobel, sobel.t()]).unsqueeze(1)
rule = nn.Conv2d(3, 1, 1)
opt = torch.optim.Adam(rule.parameters(), lr=0.01)
target = torch.zeros(1, 1, 6, 6)
target[..., 2:4, 2:4] = 1
for _ in range(4):
    grid = torch.zeros(1, 1, 6, 6)
    grid[..., 3, 3] = 1.0
    for _ in range(3):
        seen = torch.cat([grid, F.conv2d(grid, kernels, padding=1)], 1)
        grid = grid + 0.1 * rule(seen)
    loss = F.mse_loss(grid, target)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.5f}")
