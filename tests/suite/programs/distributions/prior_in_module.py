import torch
from torch import nn
from torch.distributions import Normal, kl_divergence


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(6, 4)
        self.prior = Normal(torch.zeros(2), torch.ones(2))

    def forward(self, x):
        mu, logstd = self.net(x).chunk(2, -1)
        q = Normal(mu, logstd.exp())
        return q.rsample(), kl_divergence(q, self.prior).sum(-1)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
enc = Encoder().to(device)
z, kl = enc(torch.randn(5, 6, device=device))
print(tuple(z.shape), f"{kl.mean().item():.4f}")
