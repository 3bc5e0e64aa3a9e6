import torch
from torch import nn


class Parallel(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *args):
        return self.module(*args)

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.module, name)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Parallel(nn.Linear(3, 2)).to(device)
x = torch.ones(2, model.in_features).to(model.weight.device)
print(f"{model(x).sum().item():.4f}")
