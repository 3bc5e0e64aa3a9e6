import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.inner = nn.Linear(2, 2)
        with torch.device(device):
            self.scale = nn.Linear(2, 1)

    def forward(self, x):
        return self.scale(self.inner(x))

    @classmethod
    def empty(cls, device):
        with torch.device("meta"):
            net = cls(device=device)
        net.inner.to_empty(device=device)
        return net.to(device)


device = torch.device("cuda")
torch.set_default_device(device)
net = Net.empty(device)
print(net(torch.ones(3, 2)).shape)
torch.cuda.synchronize()
