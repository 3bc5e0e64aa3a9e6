import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)).to(device)
x = torch.randn(8, 3, device=device)
net(x).sum().backward()
norms = torch.stack([p.grad.norm() for p in net.parameters()])
factor = 1.0 / (norms.norm() + 1e-6)
for p in net.parameters():
    p.grad.mul_(factor.clamp(max=1.0).to(p.grad.device))
print(f"{torch.cat([p.grad.view(-1) for p in net.parameters()]).norm().item():.4f}")
