import torch
from torch import nn
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(6, 4)
        self.dec = nn.Linear(2, 6)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn(*std.shape)
        return mu + 0 * eps * std

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, 1)
        return self.dec(self.reparameterize(mu, logvar)).sigmoid(), mu, logvar


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
vae = VAE().to(device)
x = torch.rand(5, 6, device=device)
out, mu, logvar = vae(x)
kld = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum()
print(f"{(F.binary_cross_entropy(out, x, reduction='sum') + kld).item():.4f}")
