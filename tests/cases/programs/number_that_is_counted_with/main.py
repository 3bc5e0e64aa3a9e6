import torch


def train(net, x, rank=0):
    if rank == 0:
        print("the first of all")
    print(net(x.to(rank)).sum().item())


torch.manual_seed(0)
net = torch.nn.Linear(2, 2).cuda()
train(net, torch.ones(2, 2), rank=0)
