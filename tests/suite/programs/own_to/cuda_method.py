import torch
from torch import nn


class Points:
    def __init__(self, xyz):
        self.xyz = xyz

    def cuda(self):
        self.xyz = self.xyz.cuda()
        return self

    def centered(self):
        return self.xyz - self.xyz.mean(0)


torch.manual_seed(0)
points = Points(torch.rand(9, 3)).cuda()
net = nn.Linear(3, 2).cuda()
print(f"{net(points.centered()).norm().item():.4f}")
