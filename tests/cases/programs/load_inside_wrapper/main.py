import os
import tempfile

import torch
from torch import nn


def weights(path):
    return torch.load(path)


path = os.path.join(tempfile.mkdtemp(), "net.pt")
torch.manual_seed(0)
net = nn.Linear(2, 1).cuda()
torch.save(nn.DataParallel(net).state_dict(), path)
parallel = nn.DataParallel(nn.Linear(2, 1).cuda())
print(nn.DataParallel(net).load_state_dict(torch.load(path)), parallel.load_state_dict(weights(path)))
print(round(parallel(torch.ones(4, 2).cuda()).sum().item(), 4))
