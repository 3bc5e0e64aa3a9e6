import torch
from torch import nn


def averager(beta):
    value = None

    def update(x):
        nonlocal value
        value = x.detach() if value is None else beta * value + (1 - beta) * x.detach()
        return value

    return update


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net, update = nn.Linear(3, 2).to(device), averager(0.5)
for k in range(3):
    mean = update(net(torch.ones(4, 3, device=device) * k).mean(0))
print([round(v, 4) for v in mean.tolist()])
