import torch
from torch import nn

torch.manual_seed(0)
T = 20
betas = torch.linspace(1e-4, 0.05, T)
alphas = 1.0 - betas
bar = torch.cumprod(alphas, dim=0)
model = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(10):
    x0 = torch.randn(16, 2) * 0.1 + 1
    t = torch.randint(0, T, (16,))
    eps = torch.randn_like(x0)
    xt = bar[t].sqrt()[:, None] * x0 + (1 - bar[t]).sqrt()[:, None] * eps
    pred = model(torch.cat([xt, (t / T).unsqueeze(1)], 1))
    loss = (eps - pred).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
