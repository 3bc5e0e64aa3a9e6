import torch
from torch import nn


class CosineNoise:
    """A schedule whose values are tensors, looked up by the step."""

    def __init__(self, steps, start=1.0, end=0.1):
        t = torch.linspace(0, 1, steps)
        self.values = end + (start - end) * (1 + torch.cos(t * torch.pi)) / 2
        self.i = 0

    def step(self):
        v = self.values[self.i]
        self.i = min(self.i + 1, len(self.values) - 1)
        return v

    def at(self, idx):
        return self.values[idx]


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(7, 16), nn.GELU(), nn.Linear(16, 6))

    def forward(self, x, sigma):
        return self.net(torch.cat([x, sigma.view(-1, 1)], 1))


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
schedule = CosineNoise(10)
model = Denoiser().to(device)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
data = torch.randn(30, 6, device=device)
for step in range(4):
    x = data[step * 5:step * 5 + 5]
    idx = torch.randint(0, 10, (x.size(0),), device=device)
    sigma = schedule.at(idx)
    noisy = x + sigma[:, None] * torch.randn_like(x)
    loss = ((model(noisy, sigma) - x) ** 2).mean() * schedule.step()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, "%.4f" % loss.item())
