import copy
from contextlib import contextmanager
import torch
from torch import nn


class EMA:
    def __init__(self, net, beta=0.8):
        self.net, self.beta = net, beta
        self.avg = [p.detach().clone().cpu() for p in net.parameters()]
        self.backup = None

    @torch.no_grad()
    def step(self):
        for a, p in zip(self.avg, self.net.parameters()):
            a.lerp_(p, 1 - self.beta)

    @contextmanager
    def swapped(self):
        self.backup = copy.deepcopy(self.net.state_dict())
        for p, a in zip(self.net.parameters(), self.avg):
            p.data.copy_(a)
        yield self.net
        self.net.load_state_dict(self.backup)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(4, 1).to(device)
ema = EMA(net)
opt = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(5):
    x = torch.randn(8, 4, device=device)
    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    ema.step()
with ema.swapped() as avg:
    print(f"{avg(torch.ones(1, 4, device=device)).item():.4f}")
