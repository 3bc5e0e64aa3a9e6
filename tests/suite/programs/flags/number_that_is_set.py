import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--gpu", type=int, default=0)
parser.add_argument("--epochs", type=int, default=2)
opts = parser.parse_args()
torch.cuda.set_device(opts.gpu)
torch.manual_seed(0)
torch.cuda.manual_seed_all(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).cuda()
criterion = nn.CrossEntropyLoss().cuda()
optim = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(opts.epochs):
    x = torch.randn(8, 4).cuda()
    y = torch.randint(2, (8,)).cuda()
    loss = criterion(net(x), y)
    optim.zero_grad()
    loss.backward()
    optim.step()
torch.cuda.empty_cache()
print(bool(loss > 0))
