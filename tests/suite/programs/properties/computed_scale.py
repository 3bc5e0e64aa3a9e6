import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.lin = nn.Linear(width, width)

    @property
    def scale(self):
        return torch.arange(1, self.width + 1).float().rsqrt()

    def forward(self, x):
        return self.lin(x) * self.scale


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = Scaled(4).to(device)
print(f"{net(torch.ones(2, 4, device=device)).sum().item():.4f}")
