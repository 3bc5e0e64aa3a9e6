import copy

import torch
from torch import nn

torch.manual_seed(0)
Z = 4
G = nn.Sequential(nn.Linear(Z, 16), nn.LeakyReLU(0.2), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
G_ema = copy.deepcopy(G).requires_grad_(False)
opt_g = torch.optim.Adam(G.parameters(), 2e-3, betas=(0.5, 0.9))
opt_d = torch.optim.Adam(D.parameters(), 2e-3, betas=(0.5, 0.9))
real_label, fake_label = torch.ones(32, 1), torch.zeros(32, 1)
fixed = torch.randn(16, Z)
criterion = nn.BCEWithLogitsLoss()


def real_batch():
    angle = torch.rand(32) * 6.283
    return torch.stack([angle.cos(), angle.sin()], dim=1)


def update_average(average, model, beta):
    for a, p in zip(average.parameters(), model.parameters()):
        a.copy_(beta * a + (1 - beta) * p.detach())


for it in range(10):
    fake = G(torch.randn(32, Z))
    d_loss = criterion(D(real_batch()), real_label) + criterion(D(fake.detach()), fake_label)
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    g_loss = criterion(D(fake), real_label)
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    with torch.no_grad():
        update_average(G_ema, G, 0.9)
samples = G_ema(fixed).numpy()
print(samples.shape, bool(abs(samples).max() < 50))
