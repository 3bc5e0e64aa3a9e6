import functools

import torch
from torch import nn


def make_positional(kind):
    table = {"sin": sinusoid, "learned": learned, "none": lambda n, d, **k: torch.zeros(1, **k)}
    return functools.partial(table[kind])


def sinusoid(n, d, **factory):
    pos = torch.arange(n, **factory)[:, None]
    freq = torch.exp(torch.arange(0, d, 2, **factory) * (-2.0 / d))
    return torch.cat([(pos * freq).sin(), (pos * freq).cos()], 1)


def learned(n, d, **factory):
    return nn.Parameter(torch.full((n, d), 0.1, **factory))


class Model(nn.Module):
    def __init__(self, kind, device=None, dtype=None):
        super().__init__()
        factory = {"device": device, "dtype": dtype}
        self.emb = nn.Linear(3, 4, **factory)
        pos = make_positional(kind)(5, 4, **factory)
        self.pos = pos if isinstance(pos, nn.Parameter) else nn.Buffer(pos)

    def forward(self, x):
        return self.emb(x) + self.pos


torch.manual_seed(0)
dev = "cuda" if torch.cuda.is_available() else "cpu"
for kind in ("sin", "learned", "none"):
    m = Model(kind, device=dev, dtype=torch.float32)
    print(kind, f"{m(torch.ones(2, 5, 3, device=dev)).mean().item():.3f}")
