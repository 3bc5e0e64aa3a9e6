"""Pipeline over whatever devices there are; the stages know where they live."""
import itertools

import torch
from torch import nn


def pool():
    n = torch.cuda.device_count()
    return [torch.device(f"cuda:{i}") for i in range(n)] if n else [torch.device("cpu")]


class Stage(nn.Module):
    def __init__(self, body, device):
        super().__init__()
        self.body = body.to(device)

    @property
    def device(self):
        return next(self.body.parameters()).device

    def forward(self, x):
        return self.body(x.to(self.device, non_blocking=True))


torch.manual_seed(0)
ring = itertools.cycle(pool())
stages = [Stage(nn.Sequential(nn.Linear(a, b), nn.ReLU()), next(ring)) for a, b in ((4, 8), (8, 8), (8, 2))]
params = [p for s in stages for p in s.parameters()]
opt = torch.optim.SGD(params, 0.1)
x, y = torch.randn(10, 4), torch.randint(0, 2, (10,))
for _ in range(3):
    h = x
    for s in stages:
        h = s(h)
    loss = nn.functional.cross_entropy(h, y.to(h.device))
    opt.zero_grad()
    loss.backward()
    opt.step()
print("%.3f" % loss.item())
