import torch
from torch import nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def extract(table, t, shape):
    return table.gather(-1, t).reshape(len(t), *((1,) * (len(shape) - 1)))


class Diffusion:
    def __init__(self, steps=10):
        self.steps = steps
        self.betas = torch.linspace(1e-3, 0.2, steps)
        alphas = 1 - self.betas
        self.tables = {"sqrt_ab": alphas.cumprod(0).sqrt(), "sqrt_1ab": (1 - alphas.cumprod(0)).sqrt()}

    def q(self, x, t, noise):
        return (extract(self.tables["sqrt_ab"], t, x.shape) * x
                + extract(self.tables["sqrt_1ab"], t, x.shape) * noise)


torch.manual_seed(0)
diffusion = Diffusion()
net = nn.Conv2d(1, 1, 3, padding=1).to(DEVICE)
x = torch.randn(4, 1, 6, 6).to(DEVICE)
t = torch.randint(0, diffusion.steps, (4,), device=DEVICE)
noise = torch.randn_like(x)
loss = (net(diffusion.q(x, t, noise)) - noise).pow(2).mean()
loss.backward()
print(bool(loss > 0))
