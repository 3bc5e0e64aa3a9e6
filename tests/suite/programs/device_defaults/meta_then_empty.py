import torch
from torch import nn


def materialise(net, device):
    net = net.to_empty(device=device)
    g = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(torch.randn(p.shape, generator=g))
    return net


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
with torch.device("meta"):
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
net = materialise(net, device)
print(f"{net(torch.ones(2, 3, device=device)).sum().item():.4f}")
