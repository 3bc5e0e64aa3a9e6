import os

import torch
import torch.distributed as dist
from torch import nn

spread = "RANK" in os.environ
if spread:
    assert torch.cuda.is_available(), "several processes need a GPU each"
    dist.init_process_group("nccl")
    local = int(os.environ["LOCAL_RANK"])
    device = f"cuda:{local}"
    torch.cuda.set_device(device)
else:
    device = "cuda" if torch.cuda.is_available() else "cpu"

net = nn.Linear(3, 1).to(device)
loss = net(torch.ones(2, 3, device=device)).sum().detach()
if spread:
    dist.all_reduce(loss, op=dist.ReduceOp.AVG)
print(loss.shape)
