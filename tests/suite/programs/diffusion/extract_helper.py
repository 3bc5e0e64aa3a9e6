import torch
from torch import nn


def extract(table, t, shape):
    out = table.gather(-1, t.cpu())
    return out.reshape(t.shape[0], *((1,) * (len(shape) - 1))).to(t.device)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
bar = torch.cumprod(1 - torch.linspace(1e-4, 0.02, 50), 0)
net = nn.Linear(4, 4).to(device)
x = torch.randn(6, 4, device=device)
t = torch.randint(0, 50, (6,), device=device).long()
noisy = extract(bar.sqrt(), t, x.shape) * x + extract((1 - bar).sqrt(), t, x.shape) * torch.ones_like(x)
print(f"{net(noisy).mean().item():.4f}")
