import torch
from torch import nn


class Grid(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.axes = {"x": torch.linspace(-1, 1, n), "y": torch.linspace(-1, 1, n)}
        self.scale = nn.Parameter(torch.ones(()))

    def _apply(self, fn, recurse=True):
        out = super()._apply(fn, recurse)
        self.axes = {k: fn(v) for k, v in self.axes.items()}
        return out

    def forward(self, f):
        yy, xx = torch.meshgrid(self.axes["y"], self.axes["x"], indexing="ij")
        return f + self.scale * torch.stack([xx, yy])[None]


class Keeper(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = torch.zeros(2)
        self.fc = nn.Linear(2, 2)

    def to(self, *args, **kwargs):
        super().to(*args, **kwargs)
        self.memory = self.memory.to(*args, **kwargs)
        return self

    def forward(self, x):
        self.memory = 0.5 * self.memory + x.detach().mean(0)
        return self.fc(x + self.memory)


torch.manual_seed(0)
dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
grid, keeper = Grid(3).to(dev), Keeper().to(dev)
print(f"{grid(torch.ones(1, 2, 3, 3, device=dev)).sum().item():.4f} {keeper(torch.ones(2, 2, device=dev)).sum().item():.4f}")
