import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, update_bn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
average = AveragedModel(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(torch.rand(12, 3), batch_size=4)
for x in loader:
    loss = net(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update_parameters(net)
update_bn(loader, average)
print(loss.item(), average.module[1].running_mean.sum().item())
