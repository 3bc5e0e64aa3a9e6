import torch
from torch import nn


class DDPM(nn.Module):
    def __init__(self, net, steps):
        super().__init__()
        self.net, self.steps = net, steps
        beta = torch.linspace(1e-3, 0.05, steps)
        for name, value in {"beta": beta, "bar": torch.cumprod(1 - beta, 0)}.items():
            self.register_buffer(name, value)

    @torch.no_grad()
    def sample(self, n):
        x = torch.randn(n, 2)
        for t in reversed(range(self.steps)):
            eps = self.net(x)
            x = (x - self.beta[t] / (1 - self.bar[t]).sqrt() * eps) / (1 - self.beta[t]).sqrt()
        return x


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ddpm = DDPM(nn.Sequential(nn.Linear(2, 8), nn.SiLU(), nn.Linear(8, 2)), 5).to(device)
print(tuple(ddpm.sample(4).shape))
