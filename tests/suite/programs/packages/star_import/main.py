from settings import *

import torch
from torch import nn

torch.manual_seed(SEED)
net = nn.Linear(3, 1).to(device)
print(f"{net(torch.ones(2, 3, device=device)).sum().item():.4f}")
