import os

import torch
from torch import nn

rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
if torch.cuda.is_available():
    torch.cuda.set_device(rank % torch.cuda.device_count())
    device = torch.device("cuda", torch.cuda.current_device())
else:
    device = torch.device("cpu")
torch.manual_seed(rank)
model = nn.Linear(4, 2).to(device)
x = torch.arange(12.0).view(3, 4)[rank::world].to(device)
print(world, f"{model(x).sum().item():.4f}")
