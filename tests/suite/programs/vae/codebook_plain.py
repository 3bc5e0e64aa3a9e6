import torch
from torch import nn


class Quantizer(nn.Module):
    def __init__(self, codes, dim):
        super().__init__()
        self.codebook = torch.linspace(-1, 1, codes * dim).view(codes, dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, z):
        z = self.proj(z)
        index = torch.cdist(z, self.codebook).argmin(1)
        q = self.codebook[index]
        return z + (q - z).detach(), index


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
vq = Quantizer(6, 3).to(device)
q, index = vq(torch.randn(4, 3, device=device))
print(index.tolist(), f"{q.sum().item():.4f}")
