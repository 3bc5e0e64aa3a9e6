import contextlib

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
context = torch.autocast(device.type, torch.bfloat16) if device.type == "cuda" else contextlib.nullcontext()
net = nn.Linear(4, 2).to(device)
with torch.no_grad(), context:
    out = net(torch.ones(2, 4, device=device))
print(tuple(out.shape))
