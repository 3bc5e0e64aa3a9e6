import torch
from torch import nn


class Sampler(nn.Module):
    def __init__(self, dim, device="cuda"):
        super().__init__()
        self.dim = dim
        self.device = device
        self.net = nn.Linear(dim, dim)
        self.to(device)

    def sample(self, n):
        return self.net(torch.randn(n, self.dim, device=self.device))


torch.manual_seed(0)
print(f"{Sampler(3).sample(6).std().item():.4f}")
