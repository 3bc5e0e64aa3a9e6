import torch
from torch import nn


class Metric:
    def __init__(self):
        self._defaults = {}

    def add_state(self, name, default):
        self._defaults[name] = default
        setattr(self, name, default.clone())

    def to(self, device):
        for k in self._defaults:
            setattr(self, k, getattr(self, k).to(device))
        return self

    def reset(self):
        for k, v in self._defaults.items():
            setattr(self, k, v.clone().to(getattr(self, k).device))


class Accuracy(Metric):
    def __init__(self):
        super().__init__()
        self.add_state("correct", torch.tensor(0.0))
        self.add_state("total", torch.tensor(0.0))

    def update(self, p, y):
        self.correct += (p == y).sum()
        self.total += y.numel()

    def compute(self):
        return (self.correct / self.total).item()


class LazyMean:
    def __init__(self):
        self.sum = None

    def update(self, v):
        self.sum = v.detach().clone() if self.sum is None else self.sum + v.detach()


device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
model = nn.Linear(3, 2).to(device)
acc, mean = Accuracy().to(device), LazyMean()
for epoch in range(2):
    acc.reset()
    for _ in range(3):
        x, y = torch.randn(4, 3, device=device), torch.randint(2, (4,), device=device)
        out = model(x)
        acc.update(out.argmax(1), y)
        mean.update(out.mean())
    print("%.3f %.4f" % (acc.compute(), mean.sum.item()))
