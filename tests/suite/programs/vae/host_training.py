import itertools

import torch
from torch import nn

torch.manual_seed(0)
encoder, decoder = nn.Linear(8, 4), nn.Linear(2, 8)
opt = torch.optim.Adam(itertools.chain(encoder.parameters(), decoder.parameters()), lr=0.01)
for _ in range(6):
    x = torch.rand(20, 8)
    mu, log_var = encoder(x).split(2, dim=1)
    z = mu + torch.randn_like(mu) * (log_var / 2).exp()
    rec = nn.functional.binary_cross_entropy_with_logits(decoder(z), x)
    kl = 0.5 * (mu**2 + log_var.exp() - log_var - 1).mean()
    opt.zero_grad()
    (rec + kl).backward()
    opt.step()
latent = encoder(torch.eye(8))[:, :2].detach().numpy()
print(latent.shape, f"{rec.item():.3f}")
