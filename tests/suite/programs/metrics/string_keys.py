from collections import defaultdict

import torch
from torch import nn


class Meters:
    def __init__(self):
        self.sums, self.counts = defaultdict(float), defaultdict(int)

    def update(self, **values):
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                value = value.detach().mean().item()
            self.sums[name] += value
            self.counts[name] += 1

    def __str__(self):
        return " ".join(f"{k}={self.sums[k] / self.counts[k]:.4f}" for k in sorted(self.sums))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net, meters = nn.Linear(3, 1).to(device), Meters()
for k in range(3):
    out = net(torch.ones(2, 3, device=device) * k)
    meters.update(loss=out.abs(), step=k, lr=0.1)
print(meters)
