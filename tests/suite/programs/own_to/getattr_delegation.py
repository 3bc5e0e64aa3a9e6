import torch
from torch import nn


class Named:
    def __init__(self, name, tensor):
        self.name, self.tensor = name, tensor

    def to(self, *args, **kwargs):
        return Named(self.name, self.tensor.to(*args, **kwargs))

    def __getattr__(self, attr):
        return getattr(self.tensor, attr)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = Named("features", torch.ones(2, 3)).to(device, non_blocking=True)
net = nn.Linear(3, 1).to(x.device)
print(x.name, f"{net(x.tensor).sum().item():.4f}", x.ndim)
