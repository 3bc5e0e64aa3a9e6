import os

import torch
import torch.distributed as dist


def start(args):
    if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        args.rank = int(os.environ["RANK"])
        args.gpu = int(os.environ["LOCAL_RANK"])
    else:
        print("one process")
        args.distributed = False
        return
    args.distributed = True
    torch.cuda.set_device(args.gpu)
    args.backend = "nccl"
    dist.init_process_group(backend=args.backend, rank=args.rank)
    dist.barrier()
