import functools

import torch
from torch import nn


@functools.lru_cache(maxsize=None)
def window(n, device, dtype):
    return torch.hann_window(n, device=device, dtype=dtype)


class Spectral(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(5))

    def forward(self, x):
        w = window(x.size(-1), x.device, x.dtype)
        return torch.fft.rfft(x * w).abs() * self.gain


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = Spectral().to(device)
print(net(torch.ones(2, 8, device=device)).shape, net(torch.ones(1, 8).to(device)).shape)
