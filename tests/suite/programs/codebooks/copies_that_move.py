import copy

import torch
from torch import nn


class Anchored(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.register_buffer("start", self.fc.weight.detach().clone())
        self.frozen = copy.deepcopy(self.fc).requires_grad_(False)
        self.init = nn.ParameterList([nn.Parameter(p.detach().clone(), False) for p in self.fc.parameters()])
        self.norm0 = float(self.fc.weight.detach().clone().norm())

    def forward(self, x):
        drift = (self.fc.weight - self.start).abs().sum()
        drift = drift + sum((p - q).abs().sum() for p, q in zip(self.fc.parameters(), self.init))
        return (self.fc(x) - self.frozen(x)).abs().sum() + drift + self.norm0 * 0


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = Anchored().to(device)
print(f"{net(torch.ones(1, 3, device=device)).item():.3f}")
