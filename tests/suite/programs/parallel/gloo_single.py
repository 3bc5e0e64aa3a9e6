import os
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

store = os.path.join(tempfile.mkdtemp(), "store")
dist.init_process_group("gloo", init_method=f"file://{store}", rank=0, world_size=1)
torch.manual_seed(0)
rank = dist.get_rank()
device = torch.device("cuda", rank) if torch.cuda.is_available() else torch.device("cpu")
net = nn.Linear(3, 1).to(device)
model = DDP(net, device_ids=[rank] if device.type == "cuda" else None)
loss = model(torch.ones(2, 3, device=device)).sum()
loss.backward()
print(f"{net.weight.grad.sum().item():.2f}")
dist.destroy_process_group()
