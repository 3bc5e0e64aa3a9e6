import time

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 1).to(device)
x = torch.ones(2, 3)
torch.cuda.synchronize()
start = time.perf_counter()
y = net(x)
torch.cuda.synchronize()
print(time.perf_counter() - start < 60, tuple(y.shape))
