import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
critic = nn.Sequential(nn.Linear(5, 8), nn.LeakyReLU(), nn.Linear(8, 1)).to(device)
real = torch.randn(6, 5, device=device)
fake = torch.randn_like(real)
alpha = torch.rand(6, 1, dtype=real.dtype, layout=real.layout, device=real.device)
mixed = (alpha * real + (1 - alpha) * fake).requires_grad_()
out = critic(mixed)
(grad,) = torch.autograd.grad(out, mixed, torch.ones_like(out), create_graph=True)
print(f"{((grad.norm(2, 1) - 1) ** 2).mean().item():.4f}")
