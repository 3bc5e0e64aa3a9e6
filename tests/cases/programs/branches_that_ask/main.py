import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--no-cuda", action="store_true")
args = parser.parse_args()
use_cuda = not args.no_cuda and torch.cuda.is_available()

torch.manual_seed(0)
model = nn.Linear(3, 2)
if use_cuda:
    model = model.cuda()
for _ in range(2):
    x = torch.ones(2, 3)
    # on a machine with a GPU
    if torch.cuda.is_available() and use_cuda:
        x = x.cuda()
    y = torch.zeros(2, 2).cuda() if use_cuda else torch.zeros(2, 2)
    print(round((model(x) - y).sum().item(), 4))
