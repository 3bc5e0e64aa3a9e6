import torch
from torch import nn


def mean_keeper():
    total, count = 0.0, 0
    while True:
        value = yield (total / count if count else None)
        total, count = total + value, count + 1


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 2).to(device)
keeper = mean_keeper()
next(keeper)
for k in range(3):
    mean = keeper.send(net(torch.ones(1, 3, device=device) * k).detach())
print(f"{mean.sum().item():.4f}")
