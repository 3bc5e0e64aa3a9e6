import os

import torch
import torch.distributed as dist
from torch import nn


class Net(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.device = device
        self.inner = nn.Linear(2, 1).to(device)

    def forward(self, x):
        return self.inner(x.to(self.device))


def work(rank, count):
    if count:
        os.environ["MASTER_ADDR"] = "localhost"
        os.environ["MASTER_PORT"] = "29553"
        dist.init_process_group("nccl", rank=rank, world_size=count)
    print(Net(rank)(torch.ones(1, 2)).shape)
    if count:
        dist.destroy_process_group()
