import sys

import torch
from torch import nn


class Field(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.device = device
        self.build(device)

    def build(self, device):
        self.lines = nn.ParameterList([nn.Parameter(torch.randn(1, 2))]).to(device)
        self.mix = nn.Linear(2, 2).to(device)

    def forward(self, x):
        return self.mix(x.to(self.device)) + self.lines[0]


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
name = sys.argv[1] if len(sys.argv) > 1 else "Field"
field = eval(name)(device)
optimizer = torch.optim.Adam(field.parameters())
loss = field(torch.ones(1, 2)).sum()
loss.backward()
optimizer.step()
print(loss.item())
