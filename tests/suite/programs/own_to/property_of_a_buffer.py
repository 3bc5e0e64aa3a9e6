import torch
from torch import nn


class Located(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("_anchor", torch.empty(0), persistent=False)

    @property
    def device(self):
        return self._anchor.device


class Sampler(Located):
    def __init__(self, d):
        super().__init__()
        self.mix = nn.Linear(d, d)
        self.d = d

    def draw(self, n):
        return self.mix(torch.randn(n, self.d, device=self.device))


torch.manual_seed(0)
net = Sampler(3)
if torch.cuda.is_available():
    net.cuda()
print(net.draw(4).shape)
