from functools import cached_property

import torch
from torch import nn


class Mel(nn.Module):
    def __init__(self, bins, mels):
        super().__init__()
        self.bins, self.mels = bins, mels
        self.out = nn.Linear(mels, 2)

    @cached_property
    def filters(self):
        return torch.linspace(0, 1, self.bins * self.mels).view(self.bins, self.mels)

    def forward(self, spec):
        return self.out((spec @ self.filters).log1p())


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
mel = Mel(10, 4).to(device)
print(f"{mel(torch.rand(3, 10).to(device)).sum().item():.4f}")
