import torch
from torch import nn


class Schedule:
    def __init__(self, steps):
        self.steps = steps
        betas = torch.linspace(1e-4, 0.02, steps)
        self.alpha_bar = torch.cumprod(1 - betas, 0)

    def add_noise(self, x, noise, t):
        a = self.alpha_bar[t].view(-1, 1)
        return a.sqrt() * x + (1 - a).sqrt() * noise


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
schedule = Schedule(50)
net = nn.Linear(4, 4).to(device)
x = torch.randn(6, 4, device=device)
t = torch.randint(0, schedule.steps, (6,), device=device)
noise = torch.randn_like(x)
print(f"{(net(schedule.add_noise(x, noise, t)) - noise).pow(2).mean().item():.4f}")
