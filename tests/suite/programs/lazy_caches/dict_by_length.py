import torch
from torch import nn

_GRIDS = {}


def grid(size):
    if size not in _GRIDS:
        line = torch.linspace(-1, 1, size)
        _GRIDS[size] = torch.stack(torch.meshgrid(line, line, indexing="ij"))
    return _GRIDS[size]


class CoordConv(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(5, 2, 3, padding=1)

    def forward(self, x):
        coords = grid(x.size(-1)).expand(len(x), -1, -1, -1)
        return self.conv(torch.cat([x, coords], 1))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = CoordConv().to(device)
print(f"{net(torch.rand(2, 3, 6, 6, device=device)).mean().item():.4f}")
