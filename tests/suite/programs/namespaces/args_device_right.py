import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--cpu", action="store_true")
args = parser.parse_args([])
args.device = "cuda" if torch.cuda.is_available() and not args.cpu else "cpu"


def run(args):
    torch.manual_seed(0)
    net = nn.Linear(3, 1).to(args.device)
    return net(torch.ones(2, 3, device=args.device)).sum().item()


print(f"{run(args):.4f}")
