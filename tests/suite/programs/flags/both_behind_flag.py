import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--device", default=None, help="cpu, cuda, ...")
args = parser.parse_args([])
device = torch.device(args.device or ("cuda" if torch.cuda.is_available() else "cpu"))

torch.manual_seed(0)
model = nn.Linear(4, 2).to(device)
for i in range(2):
    x, y = (t.to(device) for t in (torch.randn(5, 4), torch.randint(2, (5,))))
    print(f"{nn.functional.cross_entropy(model(x), y).item():.4f}")
