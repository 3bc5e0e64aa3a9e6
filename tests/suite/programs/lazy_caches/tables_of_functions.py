import functools
import torch
from torch import nn

_CACHE = {}


def causal(n):
    if n not in _CACHE:
        _CACHE[n] = torch.full((n, n), float("-inf")).triu(1)
    return _CACHE[n]


@functools.lru_cache(maxsize=None)
def rotary(n, d):
    ang = torch.arange(n)[:, None] / 100 ** (torch.arange(0, d, 2) / d)
    return torch.cos(ang), torch.sin(ang)


def apply_rotary(x):
    c, s = rotary(x.size(1), x.size(2))
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.cat([a * c - b * s, a * s + b * c], -1)


class Attn(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.qkv = nn.Linear(d, 3 * d)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k = apply_rotary(q), apply_rotary(k)
        w = (q @ k.transpose(1, 2) / x.size(-1) ** 0.5 + causal(x.size(1))).softmax(-1)
        return w @ v


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Sequential(nn.Embedding(9, 4), Attn(4), nn.Linear(4, 9)).to(device)
opt = torch.optim.Adam(net.parameters(), 1e-2)
for i in range(3):
    ids = torch.randint(0, 9, (2, 6), device=device)
    loss = nn.functional.cross_entropy(net(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("%.4f" % loss.item())
