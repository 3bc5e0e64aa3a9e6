import argparse

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main():
    args = argparse.Namespace(rank=0)
    args.count = torch.cuda.device_count()
    args.size = args.count
    mp.spawn(work, (args,), args.count)
    print("done")


def work(gpu, args):
    args.rank += gpu
    dist.init_process_group(
        "nccl", init_method="tcp://localhost:29547", world_size=args.size, rank=args.rank
    )
    torch.cuda.set_device(gpu)
    net = DistributedDataParallel(nn.Linear(3, 1).cuda(gpu), device_ids=[gpu])
    assert net(torch.ones(2, 3).cuda(gpu)).shape == (2, 1)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
