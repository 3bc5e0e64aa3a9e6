from enum import Enum

import torch
from torch import nn


class Noise(Enum):
    NONE = "none"
    CONSTANT = "constant"
    RAMP = "ramp"

    def make(self, shape):
        if self is Noise.CONSTANT:
            return torch.full(shape, 0.5)
        if self is Noise.RAMP:
            return torch.linspace(0, 1, shape[-1]).expand(shape)
        return 0.0


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 1).to(device)
x = torch.ones(2, 3, device=device)
for noise in Noise:
    print(noise.value, f"{net(x + noise.make(x.shape)).sum().item():.4f}")
