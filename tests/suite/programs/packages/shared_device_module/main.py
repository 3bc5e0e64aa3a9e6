from lab.data import batches
from lab.model import Net
from lab.where import DEVICE

import torch

torch.manual_seed(0)
net = Net().to(DEVICE)
for x, y in batches(2):
    print(f"{(net(x) - y).pow(2).mean().item():.4f}")
