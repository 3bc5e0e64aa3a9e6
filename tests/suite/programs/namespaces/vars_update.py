import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
parser.add_argument("--width", type=int, default=2)
args = parser.parse_args([])
vars(args).update({"width": 3})
if args.device == "auto":
    args.device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
net = nn.Linear(args.width, 1).to(args.device)
print(f"{net(torch.eye(args.width).to(args.device)).sum().item():.4f}")
