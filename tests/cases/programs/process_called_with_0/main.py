import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def train(rank, size):
    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="29571")
    if size > 1:
        dist.init_process_group("gloo" if os.name == "nt" else "nccl", rank=rank, world_size=size)
    torch.cuda.set_device(rank)
    device = torch.device(f"cuda:{rank:d}")
    net = nn.Linear(3, 1).to(device)
    print(net(torch.ones(2, 3).to(device)).shape)


def current():
    if not torch.cuda.is_available():
        return torch.device("cpu")
    torch.cuda.set_device(0)
    return torch.empty(1).cuda().device


def main():
    size = 1
    if torch.cuda.is_available():
        size = torch.cuda.device_count()
    print(current().type in ("cpu", "cuda"))
    if size > 1:
        mp.spawn(train, nprocs=size, args=(size,))
    else:
        train(0, size)


if __name__ == "__main__":
    main()
