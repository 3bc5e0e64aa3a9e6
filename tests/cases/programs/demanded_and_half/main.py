import os

import torch
import torch.distributed as dist


def main():
    assert torch.cuda.is_available(), "this needs a GPU"
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    device = rank % torch.cuda.device_count()
    torch.cuda.set_device(device)
    net = torch.nn.Linear(2, 2).to(device)
    other = globals()["made"]().to(device)
    torch.cuda.synchronize()
    print(net(other(torch.ones(2, 2).to(device))).shape)


made = lambda: torch.nn.Linear(2, 2)
os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="29531", RANK="0", WORLD_SIZE="1")
main()
