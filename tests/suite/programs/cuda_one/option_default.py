import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda:1")
args = parser.parse_args([])
torch.manual_seed(0)
net = nn.Linear(3, 2).to(args.device)
loss_fn = nn.CrossEntropyLoss(weight=torch.tensor([0.3, 0.7]))
x, y = torch.randn(8, 3, device=args.device), torch.randint(2, (8,), device=args.device)
print(f"{loss_fn(net(x), y).item():.4f}")
