import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.dec = nn.Sequential(nn.Linear(2, 6), nn.Sigmoid())

    @torch.no_grad()
    def sample(self, n):
        z = torch.zeros(n, 2).to(self.dec[0].bias)
        return self.dec(z)


torch.manual_seed(0)
vae = VAE().to("cuda" if torch.cuda.is_available() else "cpu")
print(f"{vae.sample(3).sum().item():.4f}")
