import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 2).to(device)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for p in net.parameters():
    p.grad = torch.randn(p.shape)
opt.step()
print(f"{net(torch.ones(1, 3, device=device)).sum().item():.4f}")
