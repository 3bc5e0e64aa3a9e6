import torch
from torch import nn

import model

net = model.Net().cuda()
print(net(torch.ones(2, 3).cuda()).shape)
