import torch
from torch import nn

torch.manual_seed(0)
model = nn.DataParallel(nn.Linear(4, 2)).cuda()
x = torch.ones(6, 4).cuda()
print(tuple(model(x).shape), f"{model.module(x).sum().item():.4f}")
