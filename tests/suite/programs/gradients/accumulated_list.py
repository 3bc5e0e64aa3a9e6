import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 1).to(device)
total = torch.zeros(4)
for seed in range(3):
    x = torch.randn(8, 3, device=device)
    net.zero_grad()
    net(x).pow(2).mean().backward()
    total = total + torch.cat([p.grad.flatten() for p in net.parameters()])
print(f"{total.norm().item():.4f}")
