import torch
from model import Net

net = Net().cuda()
print(net(torch.ones(2, 3).cuda()).shape)
