import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
density = nn.Linear(1, 1).to(device)
z = torch.linspace(0.1, 2.0, 6, device=device).expand(5, 6)
sigma = density(z.unsqueeze(-1)).squeeze(-1).relu()
dists = z[..., 1:] - z[..., :-1]
dists = torch.cat([dists, torch.Tensor([1e10]).expand(dists[..., :1].shape)], -1)
alpha = 1.0 - torch.exp(-sigma * dists)
weights = alpha * torch.cumprod(torch.cat([torch.ones((5, 1)), 1.0 - alpha + 1e-10], -1), -1)[:, :-1]
print(f"{weights.sum().item():.4f}")
