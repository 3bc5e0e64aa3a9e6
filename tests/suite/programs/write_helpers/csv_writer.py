import csv
import io

import torch
from torch import nn


def rows(net, loader):
    for i, x in enumerate(loader):
        yield [i, *(round(v.item(), 4) for v in net(x).mean(0))]


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 2).to(device)
stream = io.StringIO()
csv.writer(stream).writerows(rows(net, (torch.randn(4, 3, device=device) for _ in range(3))))
print(stream.getvalue().strip())
