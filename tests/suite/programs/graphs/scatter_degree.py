import torch
from torch import nn


def degree(index, n):
    out = torch.zeros(n)
    return out.scatter_add_(0, index, torch.ones(index.numel()))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
lin = nn.Linear(3, 3).to(device)
x = torch.randn(4, 3).to(device)
source, target = torch.tensor([[0, 1, 2, 0], [1, 2, 3, 3]]).to(device)
norm = degree(target, 4).clamp(min=1)
out = torch.zeros_like(x).index_add_(0, target, lin(x)[source]) / norm[:, None]
print(f"{out.sum().item():.4f}")
