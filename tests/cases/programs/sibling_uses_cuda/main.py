import torch
from common import names
torch.manual_seed(0)
net = torch.nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in names():
    net(torch.randn(4, 2)).sum().backward()
    opt.step()
print(net.weight.sum().item())
