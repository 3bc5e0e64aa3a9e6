import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 2).cuda(1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x, y = torch.randn(8, 3).cuda(1), torch.randint(2, (8,)).cuda(1)
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}")
