import torch
import torch.nn as nn

torch.manual_seed(0)
latent = 3
generator = nn.Sequential(nn.Linear(latent, 8), nn.ReLU(), nn.Linear(8, 2))
discriminator = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
fixed_noise = torch.randn(4, latent)
loss_fn = nn.BCEWithLogitsLoss()
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.5, 0.999))
snapshots = []
for epoch in range(3):
    real = torch.rand(16, 2)
    label = torch.full((16,), 1.0)
    opt_d.zero_grad()
    err_real = loss_fn(discriminator(real).view(-1), label)
    err_real.backward()
    fake = generator(torch.randn(16, latent))
    label.fill_(0.0)
    err_fake = loss_fn(discriminator(fake.detach()).view(-1), label)
    err_fake.backward()
    opt_d.step()
    opt_g.zero_grad()
    label.fill_(1.0)
    err_g = loss_fn(discriminator(fake).view(-1), label)
    err_g.backward()
    opt_g.step()
    with torch.no_grad():
        snapshots.append(generator(fixed_noise).detach().cpu())
print(f"{torch.stack(snapshots).mean().item():.4f} {err_g.item():.4f}")
