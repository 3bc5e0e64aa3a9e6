import torch
from torch import nn
from torch.func import vjp

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).to(device)
x = torch.randn(3, device=device)
out, pull = vjp(net, x)
rows = [pull(unit)[0] for unit in torch.eye(2)]
print(f"{torch.stack(rows).norm().item():.4f}")
