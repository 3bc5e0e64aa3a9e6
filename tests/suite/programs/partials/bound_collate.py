from functools import partial

import torch
from torch import nn
from torch.utils.data import DataLoader


def collate(batch, scale):
    return torch.stack(batch) * scale


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
send = partial(torch.Tensor.to, device=device)
net = nn.Linear(3, 1).to(device)
loader = DataLoader(list(torch.rand(6, 3)), batch_size=3, collate_fn=partial(collate, scale=2.0))
for x in map(send, loader):
    print(f"{net(x).sum().item():.4f}")
