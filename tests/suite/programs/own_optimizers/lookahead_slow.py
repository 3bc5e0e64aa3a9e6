import torch
from torch import nn


class Lookahead:
    def __init__(self, inner, k=2, alpha=0.5):
        self.inner, self.k, self.alpha, self.n = inner, k, alpha, 0
        self.slow = [[p.detach().clone() for p in g["params"]] for g in inner.param_groups]

    def step(self):
        self.inner.step()
        self.n += 1
        if self.n % self.k:
            return
        for group, slow in zip(self.inner.param_groups, self.slow):
            for p, s in zip(group["params"], slow):
                s.add_(p.data - s, alpha=self.alpha)
                p.data.copy_(s)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 1).to(device)
opt = Lookahead(torch.optim.SGD(net.parameters(), lr=0.1))
x = torch.ones(2, 3, device=device)
for _ in range(4):
    net.zero_grad()
    net(x).pow(2).mean().backward()
    opt.step()
print(f"{net(x).pow(2).mean().item():.5f}")
