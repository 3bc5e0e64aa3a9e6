import torch
from torch import nn


class Base:
    def __init__(self, size):
        self.net = nn.Linear(size, 1).cuda()
        self.share()

    def share(self):
        free, total = torch.cuda.mem_get_info()
        self.used = 1 - free / total


class Trainer(Base):
    def fit(self):
        x = torch.ones(4, 3).cuda()
        torch.cuda.synchronize()
        self.net(x).sum().backward()
        print(self.used)
