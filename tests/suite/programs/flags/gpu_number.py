import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--gpu", type=int, default=0)
args = parser.parse_args([])
torch.cuda.set_device(args.gpu)
torch.manual_seed(0)
model = nn.Linear(4, 1).cuda(args.gpu)
x = torch.ones(2, 4).cuda(args.gpu, non_blocking=True)
print(f"{model(x).sum().item():.4f}")
