import math

import torch
from torch import nn


class Schedule:
    def __init__(self, steps):
        s = torch.linspace(0, 1, steps + 1)
        f = torch.cos((s + 0.008) / 1.008 * math.pi / 2) ** 2
        self.alpha_bar = (f / f[0])[1:].clamp(1e-4, 1.0)
        self.steps = steps

    def noise(self, x, t):
        eps = torch.randn_like(x)
        ab = self.alpha_bar[t][:, None]
        return ab.sqrt() * x + (1 - ab).sqrt() * eps, eps

    def sample_t(self, n):
        return torch.randint(0, self.steps, (n,))


class Denoiser(nn.Module):
    def __init__(self, steps):
        super().__init__()
        self.time = nn.Embedding(steps, 8)
        self.net = nn.Sequential(nn.Linear(10, 16), nn.SiLU(), nn.Linear(16, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], dim=-1))


torch.manual_seed(0)
schedule = Schedule(20)
denoiser = Denoiser(20)
opt = torch.optim.Adam(denoiser.parameters(), 1e-2)
data = torch.randn(40, 2) * 0.2 + 1
for step in range(8):
    t = schedule.sample_t(len(data))
    noisy, eps = schedule.noise(data, t)
    loss = (denoiser(noisy, t) - eps).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


@torch.no_grad()
def sample(n):
    x = torch.randn(n, 2)
    for i in reversed(range(schedule.steps)):
        t = torch.full((n,), i, dtype=torch.long)
        eps = denoiser(x, t)
        ab = schedule.alpha_bar[i]
        x0 = (x - (1 - ab).sqrt() * eps) / ab.sqrt()
        prev = schedule.alpha_bar[i - 1] if i else torch.tensor(1.0)
        x = prev.sqrt() * x0 + (1 - prev).sqrt() * eps
    return x


print(sample(5).shape, bool(torch.isfinite(loss)))
