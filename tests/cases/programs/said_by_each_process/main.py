import os

import shared
import torch
import torch.distributed as dist

for name, value in (("RANK", "0"), ("WORLD_SIZE", "1"), ("LOCAL_RANK", "0")):
    os.environ.setdefault(name, value)
os.environ.setdefault("MASTER_ADDR", "localhost")
os.environ.setdefault("MASTER_PORT", "29549")
local = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local)
print(f"process {local} on {torch.cuda.current_device()}")
dist.init_process_group("nccl")
device = f"cuda:{local}"
print(shared.Net().to(device)(torch.ones(2, 3).to(device)).shape)
