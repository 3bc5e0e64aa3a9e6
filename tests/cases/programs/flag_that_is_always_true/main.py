import torch
from torch import nn

cuda = True
DEVICE = torch.device("cuda" if cuda else "cpu")
torch.manual_seed(0)
net = nn.Linear(2, 2).to(DEVICE)
print(f"{net(torch.ones(1, 2).to(DEVICE)).sum().item():.4f}")
