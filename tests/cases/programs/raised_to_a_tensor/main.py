import torch
from torch import nn

torch.manual_seed(0)
steps = torch.Tensor([1, 2, 3])
rewards = torch.Tensor([1.0, 1.0, 1.0])
net = nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
pred = net(torch.ones(3, 1)).squeeze(1)
loss = (rewards + pow(0.9, steps) * pred - pred).pow(2).mean()
opt.zero_grad()
loss.backward()
opt.step()
print(loss.item())
