import random

import torch
from torch import nn


class Energy(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(2, 16), nn.Softplus(), nn.Linear(16, 1))

    def forward(self, x):
        return self.f(x).squeeze(-1) + 0.05 * x.square().sum(-1)


class Chains:
    def __init__(self, model, size=64):
        self.model = model
        self.examples = [torch.rand(1, 2) * 4 - 2 for _ in range(size)]

    def draw(self, n, steps=4, size=0.1):
        fresh = torch.rand(n // 4, 2) * 4 - 2
        old = torch.cat(random.choices(self.examples, k=n - n // 4))
        x = torch.cat([fresh, old]).requires_grad_(True)
        for _ in range(steps):
            grad, = torch.autograd.grad(self.model(x).sum(), x)
            x = (x - size * grad + 0.05 * torch.randn_like(x)).detach().requires_grad_(True)
        x = x.detach()
        self.examples = list(x.chunk(n)) + self.examples
        self.examples = self.examples[:64]
        return x


random.seed(0)
torch.manual_seed(0)
energy = Energy()
chains = Chains(energy)
opt = torch.optim.Adam(energy.parameters(), 1e-2)
for it in range(5):
    real = torch.randn(16, 2) * 0.3 + torch.tensor([1.0, -1.0])
    fake = chains.draw(16)
    e_real, e_fake = energy(real), energy(fake)
    loss = e_real.mean() - e_fake.mean() + 0.1 * (e_real ** 2 + e_fake ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(len(chains.examples), bool(torch.isfinite(loss)))
