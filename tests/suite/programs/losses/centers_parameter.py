import torch
from torch import nn


class CenterLoss(nn.Module):
    def __init__(self, classes, dim):
        super().__init__()
        self.centers = nn.Parameter(torch.zeros(classes, dim))

    def forward(self, features, labels):
        onehot = nn.functional.one_hot(labels, len(self.centers)).to(features.dtype)
        return (features - onehot @ self.centers).pow(2).sum(1).mean()


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
modules = nn.ModuleDict({"net": nn.Linear(4, 2), "loss": CenterLoss(3, 2)})
for module in modules.values():
    module.to(device)
labels = torch.tensor([0, 1, 2]).to(device)
print(f"{modules['loss'](modules['net'](torch.ones(3, 4, device=device)), labels).item():.4f}")
