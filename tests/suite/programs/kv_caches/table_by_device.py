from functools import lru_cache

import torch
from torch import nn


@lru_cache(maxsize=8)
def table(n, d, device, dtype):
    inv = 1.0 / 10000 ** (torch.arange(0, d, 2, device=device, dtype=dtype) / d)
    ang = torch.arange(n, device=device, dtype=dtype)[:, None] * inv
    return ang.cos(), ang.sin()


def rope(x):
    cos, sin = table(x.shape[-2], x.shape[-1], x.device, x.dtype)
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)


class Att(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self._bias = None

    def bias(self, n, x):
        if self._bias is None or self._bias.size(0) < n or self._bias.device != x.device:
            p = torch.arange(n, device=x.device)
            self._bias = -(p[:, None] - p[None]).abs().to(x.dtype)
        return self._bias[:n, :n]

    def forward(self, x):
        s = rope(self.q(x)) @ rope(self.k(x)).mT + self.bias(x.size(1), x)
        return s.softmax(-1) @ self.v(x)


torch.manual_seed(0)
att = Att(8)
x = torch.randn(2, 5, 8)
on_cpu = att(x)
device = "cuda" if torch.cuda.is_available() else "cpu"
att = att.to(device)
there = att(x.to(device))
print(torch.allclose(on_cpu, there.cpu(), atol=1e-5))
print(att.cpu()(x).shape)
