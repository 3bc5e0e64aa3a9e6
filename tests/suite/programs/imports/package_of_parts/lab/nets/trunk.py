import torch
from torch import nn

from ..tools.position import sinusoid


class Trunk(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(d))
        self.mix = nn.TransformerEncoderLayer(d, 2, 16, dropout=0.0, batch_first=True)

    def forward(self, x):
        return self.mix(x * self.scale + sinusoid(x.size(1), x.size(2)))
