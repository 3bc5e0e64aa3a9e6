import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def main():
    count = torch.cuda.device_count() // 2
    mp.spawn(work, nprocs=count, args=(count,))


def work(rank, count):
    dist.init_process_group(
        "nccl", init_method="tcp://localhost:29548", world_size=count, rank=rank
    )
    torch.cuda.set_device(rank)
    net = nn.Linear(3, 1).cuda(rank)
    print(net(torch.ones(2, 3).cuda(rank)).shape)


if __name__ == "__main__":
    main()
