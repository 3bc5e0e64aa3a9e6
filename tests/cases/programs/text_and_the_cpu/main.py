import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda")
args = parser.parse_args()
net = nn.Linear(2, 1).to(args.device)
if args.device == torch.device("cpu"):
    torch.set_num_threads(1)
print(net(torch.ones(2, 2, device=args.device)).shape)
