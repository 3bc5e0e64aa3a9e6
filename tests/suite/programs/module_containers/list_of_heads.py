import torch
from torch import nn


class MultiHead(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.trunk = nn.Linear(6, 8)
        self.heads = []
        for size in sizes:
            self.heads.append(nn.Linear(8, size))

    def forward(self, x):
        h = torch.relu(self.trunk(x))
        return [head(h) for head in self.heads]


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = MultiHead([2, 3]).to(device)
outs = model(torch.randn(4, 6, device=device))
print([tuple(o.shape) for o in outs], f"{sum(o.sum() for o in outs).item():.4f}")
