from enum import Enum

import torch
from torch import nn


class Device(str, Enum):
    CPU = "cpu"
    GPU = "cuda"


device = torch.device(Device.GPU.value)
torch.manual_seed(0)
net = nn.Linear(3, 1).to(device)
print(f"{net(torch.ones(2, 3, device=device)).sum().item():.4f}")
