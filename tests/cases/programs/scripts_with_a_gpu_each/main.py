import torch
from torch import nn
from helper import rows
device = "cuda:0"
torch.manual_seed(0)
net = nn.Linear(3, 2).to(device)
print(round(net(rows(2).to(device)).sum().item(), 3))
