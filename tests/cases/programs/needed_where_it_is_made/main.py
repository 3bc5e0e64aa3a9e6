import torch
from torch import nn


class Monitor:
    def __init__(self):
        torch.cuda.reset_peak_memory_stats()
        self.capacity = torch.cuda.get_device_properties(0).total_memory

    def reset(self):
        torch.cuda.reset_peak_memory_stats()
        torch.cuda.synchronize()


def captured(net, x):
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    graph.capture_begin()
    y = net.cuda()(x.cuda())
    graph.capture_end()
    return y, graph


def main(watch=False):
    net = nn.Linear(3, 1)
    if watch:
        Monitor().reset()
        captured(nn.Linear(3, 1), torch.ones(2, 3))
    print(net(torch.ones(2, 3)).shape)


if __name__ == "__main__":
    main()
