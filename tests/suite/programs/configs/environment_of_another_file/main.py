import torch
from torch import nn

from settings import DEVICE, SEED

torch.manual_seed(SEED)
net = nn.Linear(3, 2).to(DEVICE)
batch = torch.ones(2, 3).to(DEVICE)
print(net(batch).shape)
