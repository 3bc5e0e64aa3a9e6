import torch
from torch import nn

DEVICE = "cuda:1"
torch.manual_seed(0)
net = nn.Linear(3, 1).to(DEVICE)
x = torch.randn(8, 3).to(DEVICE)
loss = (net(x) - 1).pow(2).mean()
loss.backward()
print(f"{loss.item():.4f}")
