import torch
from torch import nn


def l2n(v, eps=1e-12):
    return v / (v.norm() + eps)


class SpectralNorm(nn.Module):
    def __init__(self, module, name="weight", power=1):
        super().__init__()
        self.module, self.name, self.power = module, name, power
        w = getattr(module, name)
        h = w.size(0)
        wd = w.view(h, -1).size(1)
        self.u = l2n(torch.randn(h))
        self.v = l2n(torch.randn(wd))

    def forward(self, *args):
        w = getattr(self.module, self.name)
        mat = w.view(w.size(0), -1)
        with torch.no_grad():
            for _ in range(self.power):
                self.v = l2n(mat.t() @ self.u)
                self.u = l2n(mat @ self.v)
        sigma = self.u @ mat @ self.v
        return nn.functional.conv2d(args[0], w / sigma, self.module.bias, self.module.stride, self.module.padding)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = SpectralNorm(nn.Conv2d(1, 4, 3, 2, 1))
        self.c2 = SpectralNorm(nn.Conv2d(4, 8, 3, 2, 1))
        self.fc = nn.Linear(8 * 4, 1)

    def forward(self, x):
        x = nn.functional.leaky_relu(self.c1(x), 0.1)
        x = nn.functional.leaky_relu(self.c2(x), 0.1)
        return self.fc(x.flatten(1))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
critic = Critic().to(device)
opt = torch.optim.Adam(critic.parameters(), 1e-3)
for i in range(5):
    real = torch.randn(8, 1, 8, 8).to(device) + 1
    fake = torch.randn(8, 1, 8, 8, device=device)
    loss = nn.functional.relu(1 - critic(real)).mean() + nn.functional.relu(1 + critic(fake)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("%.5f" % loss.item())
