import torch
from torch import nn


class Tables:
    def __init__(self, device):
        self.rows = [torch.ones(3, device=device) * i for i in range(2)]
        self.named = {k: torch.zeros(3, device=device) for k in "ab"}

    def to(self, device):
        self.rows = [r.to(device) for r in self.rows]
        self.named = {k: v.to(device) for k, v in self.named.items()}
        return self


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.tables = Tables("cpu")
        self.steps = [torch.tensor(0.1), torch.tensor(0.2)]
        self.cache = {}

    def _apply(self, fn, recurse=True):
        super()._apply(fn, recurse)
        self.steps = [fn(s) for s in self.steps]
        return self

    def forward(self, x):
        self.tables.to(x.device)
        key = x.device
        if key not in self.cache:
            self.cache[key] = torch.arange(3.0, device=key)
        h = self.fc(x) + self.tables.rows[1] + self.tables.named["a"] + self.cache[key]
        return h * self.steps[0]


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
net = Net().to(device)
print("%.4f" % net(torch.ones(2, 3, device=device)).sum().item())
