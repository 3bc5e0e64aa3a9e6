import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--gpu-collect", action="store_true", help="gather the results there")
args = parser.parse_args()

torch.manual_seed(0)
model = nn.Linear(3, 1).cuda()
results = [model(torch.rand(2, 3).cuda()) for _ in range(2)]
whole = torch.cat(results if args.gpu_collect else [r.cpu() for r in results])
print(whole.sum().item())
