from functools import lru_cache

import torch
from torch import nn


@lru_cache(maxsize=None)
def grid(size, device):
    line = torch.linspace(-1, 1, size, device=device)
    return torch.stack(torch.meshgrid(line, line, indexing="ij"))


class CoordConv(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(5, 2, 3, padding=1)

    def forward(self, x):
        coords = grid(x.size(-1), x.device).expand(len(x), -1, -1, -1)
        return self.conv(torch.cat([x, coords], 1))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = CoordConv().to(device)
print(f"{net(torch.rand(2, 3, 6, 6, device=device)).mean().item():.4f}")
