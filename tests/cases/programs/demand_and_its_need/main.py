import torch
import torch.multiprocessing as mp


def work(rank, count):
    torch.manual_seed(0)
    net = torch.nn.Linear(2, 2).cuda(rank)
    print(count, net(torch.ones(2, 2).cuda(rank)).sum().item())


def main():
    assert torch.cuda.is_available(), "training on a CPU is not allowed"
    count = torch.cuda.device_count()
    mp.spawn(work, nprocs=count, args=(count,))


if __name__ == "__main__":
    main()
