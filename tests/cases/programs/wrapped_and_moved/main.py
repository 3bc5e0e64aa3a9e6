import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 2).to(device)


class Both(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.a = a
        self.b = b

    def forward(self, x):
        return self.a(x) + self.b(x)


class Wrapped(nn.DataParallel):
    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.module, name)


parts = {"a": nn.Linear(3, 3), "b": nn.Linear(3, 2)}
_ = [parts[key].to(device) for key in parts]
for key in parts:
    if key != "b":
        parts[key] = Wrapped(parts[key])
print(parts["b"](parts["a"](torch.ones(2, 3).to(device))).sum().item())
gl = nn.Linear(2, 2).to(device)
gl = Wrapped(gl)
print(gl(net(torch.ones(2, 3).to(device))).sum().item())
pair = {"a": nn.Linear(3, 3), "b": nn.Linear(3, 3)}
_ = [pair[key].to(device) for key in pair]
both = Both(pair["a"], pair["b"]).to(device)
both = Wrapped(both)
print(both(torch.ones(2, 3).to(device)).sum().item())
