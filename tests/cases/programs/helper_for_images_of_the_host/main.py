import numpy as np
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

torch.manual_seed(0)
net = nn.Linear(4, 2).to(device)
x = torch.ones(3, 4).to(device)
print(round(net(x).sum().item(), 5))
