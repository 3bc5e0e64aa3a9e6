import os

import torch
from torch import nn

local_rank = int(os.environ.get("LOCAL_RANK", 0))
torch.cuda.set_device(local_rank)
device = torch.device("cuda", local_rank)
torch.manual_seed(local_rank)
model = nn.Linear(4, 2).to(device)
print(f"{model(torch.ones(3, 4, device=device)).sum().item():.4f}")
