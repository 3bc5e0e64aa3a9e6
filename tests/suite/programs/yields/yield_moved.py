import torch
from torch import nn


def stream(batches, device):
    for batch in batches:
        yield from ((t.to(device)) for t in batch)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 1).to(device)
data = [torch.ones(2, 4, 3), torch.zeros(1, 4, 3)]
print([f"{net(x).sum().item():.4f}" for x in stream(data, device)])
