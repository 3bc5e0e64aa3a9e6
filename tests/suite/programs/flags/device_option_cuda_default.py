import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--device", type=str, default="cuda")
args = parser.parse_args([])
torch.manual_seed(0)
model = nn.Linear(4, 1).to(args.device)
print(f"{model(torch.ones(2, 4, device=args.device)).sum().item():.4f}")
