import contextlib

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Average:
    def __init__(self, net, decay):
        self.net, self.decay = net, decay
        self.values = [p.detach().clone() for p in net.parameters()]

    @torch.no_grad()
    def step(self):
        for v, p in zip(self.values, self.net.parameters()):
            v.mul_(self.decay).add_(p, alpha=1 - self.decay)

    @contextlib.contextmanager
    def applied(self):
        kept = [p.data for p in self.net.parameters()]
        for p, v in zip(self.net.parameters(), self.values):
            p.data = v
        yield self.net
        for p, v in zip(self.net.parameters(), kept):
            p.data = v


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 1))
ema = Average(net, 0.8)
net = net.to(device)
opt = torch.optim.Adam(net.parameters(), 0.01)
x = torch.randn(12, 3, device=device)
for _ in range(4):
    loss = (net(x) - x.sum(1, keepdim=True)).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    ema.step()
with ema.applied() as averaged, torch.no_grad():
    print(averaged(x).shape)
print(bool(loss > 0))
