import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
with device:
    net = nn.Linear(3, 1)
    x = torch.ones(2, 3)
print(f"{net(x).sum().item():.4f}")
