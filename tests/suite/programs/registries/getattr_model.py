import argparse
import types

import torch
from torch import nn

zoo = types.SimpleNamespace(
    small=lambda: nn.Linear(4, 2),
    large=lambda: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)),
)
parser = argparse.ArgumentParser()
parser.add_argument("--arch", default="large")
args = parser.parse_args([])
torch.manual_seed(0)
model = getattr(zoo, args.arch)()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(8, 4)
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
