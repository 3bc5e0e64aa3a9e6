import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--parallel", action="store_true")
parser.add_argument("--no-cuda", action="store_true")
args = parser.parse_args(["--parallel"])
args.cuda = not args.no_cuda and torch.cuda.is_available()
device = torch.device("cuda" if args.cuda else "cpu")
torch.manual_seed(0)
model = nn.Linear(2, 1).to(device)
if args.parallel and args.cuda:
    spread = nn.Sequential(model.cpu())
    spread = spread.cuda()
else:
    spread = model
print(spread(torch.ones(3, 2, device=device)).shape)
