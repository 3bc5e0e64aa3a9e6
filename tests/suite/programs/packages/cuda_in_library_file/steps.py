import torch
from torch import nn


class Step:
    def __init__(self):
        self.net = nn.Linear(3, 1).cuda().eval()

    def __call__(self, row):
        with torch.no_grad():
            return self.net(torch.tensor([row]).cuda()).item()
