import torch
from torch import nn


class Holder(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self._anchor = None

    @property
    def anchor(self):
        return self._anchor

    @anchor.setter
    def anchor(self, value):
        self._anchor = value.to(self.lin.weight.device)

    def forward(self, x):
        return self.lin(x) - self.anchor


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
holder = Holder().to(device)
holder.anchor = torch.ones(3)
print(f"{holder(torch.ones(2, 3, device=device)).sum().item():.4f}")
