import torch
from torch import nn

torch.manual_seed(0)
data = [torch.rand(4, 3) for _ in range(2)]
net = nn.Linear(3, 1).cuda()
batches = (x.pin_memory().cuda(non_blocking=True) for x in data)
for x in batches:
    print(f"{net(x).sum().item():.4f}")
