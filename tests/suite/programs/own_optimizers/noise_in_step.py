import torch
from torch import nn
from torch.optim import Optimizer


class Langevin(Optimizer):
    def __init__(self, params, lr=1e-2, temperature=1e-3):
        super().__init__(params, dict(lr=lr, temperature=temperature))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            scale = (2 * group["lr"] * group["temperature"]) ** 0.5
            for p in group["params"]:
                p.add_(-group["lr"] * p.grad + scale * torch.randn(p.size()))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(4, 2).to(device)
opt = Langevin(net.parameters())
x = torch.ones(6, 4, device=device)
for _ in range(4):
    opt.zero_grad()
    net(x).pow(2).mean().backward()
    opt.step()
print(f"{net(x).pow(2).mean().item():.4f}")
