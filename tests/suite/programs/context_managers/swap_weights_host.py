import contextlib

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
average = [p.detach().clone() for p in model.parameters()]


@contextlib.contextmanager
def averaged():
    kept = [p.detach().clone() for p in model.parameters()]
    for p, a in zip(model.parameters(), average):
        p.data.copy_(a)
    yield
    for p, k in zip(model.parameters(), kept):
        p.data.copy_(k)


opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(5):
    x = torch.randn(8, 4)
    loss = (model(x) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    for p, a in zip(model.parameters(), average):
        a.mul_(0.5).add_(p.data, alpha=0.5)
with averaged(), torch.no_grad():
    print(f"{model(torch.ones(1, 4)).item():.4f}")
