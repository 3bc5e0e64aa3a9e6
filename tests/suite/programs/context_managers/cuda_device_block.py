import torch
from torch import nn

torch.manual_seed(0)
with torch.cuda.device(0):
    net = nn.Linear(3, 1).cuda()
    x = torch.ones(2, 3).cuda()
    print(f"{net(x).sum().item():.4f}")
