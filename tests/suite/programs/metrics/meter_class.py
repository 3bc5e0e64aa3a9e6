import torch
from torch import nn


class Meter:
    def __init__(self, n):
        self.total = torch.zeros(n)
        self.count = 0

    def update(self, values):
        self.total += values.detach()
        self.count += 1

    @property
    def average(self):
        return (self.total / self.count).tolist()


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(4, 2).to(device)
meter = Meter(2)
for _ in range(3):
    meter.update(net(torch.ones(5, 4, device=device)).mean(0))
print([round(v, 4) for v in meter.average])
