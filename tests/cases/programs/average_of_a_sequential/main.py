import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
average = AveragedModel(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.ones(4, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update_parameters(net)
print(loss.item(), average(torch.ones(1, 3)).item(), average.module(torch.ones(1, 3)).item())
