import torch
from torch import nn


class TensorBag(dict):
    def map(self, fn):
        return TensorBag({key: fn(value) for key, value in self.items()})

    def to(self, device):
        return self.map(lambda t: t.to(device))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
bag = TensorBag(x=torch.randn(6, 4), y=torch.randn(6, 2)).to(device)
net = nn.Linear(4, 2).to(device)
loss = nn.functional.mse_loss(net(bag["x"]), bag["y"])
print(f"{loss.item():.4f}", sorted(bag))
