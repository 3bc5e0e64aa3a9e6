import argparse

import processes
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda")
args = parser.parse_args()
processes.start(args)
device = torch.device(args.device)
torch.manual_seed(0)
model = nn.Linear(2, 1).to(device)
print(model(torch.ones(3, 2, device=device)).shape)
