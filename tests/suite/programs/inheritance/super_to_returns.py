import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.anchor = torch.ones(3)

    def to(self, *args, **kwargs):
        module = super().to(*args, **kwargs)
        module.anchor = module.anchor.to(*args, **kwargs)
        return module

    def forward(self, x):
        return self.lin(x) * self.anchor


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print(f"{Net().to(device)(torch.ones(2, 3, device=device)).sum().item():.4f}")
