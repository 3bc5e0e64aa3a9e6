from functools import partial

import numpy as np
import torch
from torch import nn


class Diffusion(nn.Module):
    def __init__(self, steps=10):
        super().__init__()
        self.net = nn.Linear(2, 2)
        to_torch = partial(torch.tensor, dtype=torch.float32)
        bar = np.cumprod(1 - np.linspace(1e-4, 0.02, steps))
        self.register_buffer("sqrt_bar", to_torch(np.sqrt(bar)))
        self.register_buffer("sqrt_rest", to_torch(np.sqrt(1 - bar)))

    def q_sample(self, x, t, noise=None):
        noise = torch.zeros_like(x) if noise is None else noise
        return self.sqrt_bar[t][:, None] * x + self.sqrt_rest[t][:, None] * noise

    def forward(self, x):
        t = torch.arange(x.shape[0], device=x.device).long()
        return self.net(self.q_sample(x, t)).pow(2).mean()


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print(f"{Diffusion().to(device)(torch.ones(4, 2, device=device)).item():.4f}")
