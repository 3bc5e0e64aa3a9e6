import argparse
from contextlib import nullcontext

import torch
from torch import nn


def chosen(name) -> torch.device:
    if name:
        return torch.device(name)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


parser = argparse.ArgumentParser()
parser.add_argument("--device")
parser.add_argument("--full", action="store_true")
args = parser.parse_args()
device = chosen(args.device)
torch.manual_seed(0)
model = nn.Linear(4, 2).to(device)
mixed = not args.full and device in ("cuda", "mps")
half = torch.autocast(device_type=device, dtype=torch.bfloat16) if mixed else nullcontext()
with half:
    print(model(torch.ones(1, 4, device=device)).dtype)
