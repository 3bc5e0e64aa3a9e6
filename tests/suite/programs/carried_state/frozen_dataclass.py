from dataclasses import dataclass, replace

import torch
from torch import nn


@dataclass(frozen=True)
class State:
    h: torch.Tensor
    step: int = 0

    @classmethod
    def initial(cls, batch, dim):
        return cls(torch.zeros(batch, dim))


class Cell(nn.Module):
    def __init__(self, i, d):
        super().__init__()
        self.gru = nn.GRUCell(i, d)

    def forward(self, x, s):
        return replace(s, h=self.gru(x, s.h), step=s.step + 1)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
cell = Cell(2, 3).to(device)
s = State.initial(4, 3)
for x in torch.randn(5, 4, 2).to(device):
    s = cell(x, s)
print(s.step, s.h.shape)
