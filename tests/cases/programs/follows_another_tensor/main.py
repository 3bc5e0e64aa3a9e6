import torch
from torch import nn

from paths import speed

torch.manual_seed(0)
net = nn.Linear(1, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    t = torch.rand(4, 1)
    loss = (net(t) - speed(t)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(round(loss.item(), 4))
