import torch
from torch import nn


def forward_in_parts(net, x, size):
    while True:
        try:
            return torch.cat([net(part) for part in x.split(size)])
        except torch.cuda.OutOfMemoryError:
            torch.cuda.empty_cache()
            size //= 2
            if size == 0:
                raise


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 1).to(device)
print(f"{forward_in_parts(net, torch.ones(8, 3, device=device), 4).sum().item():.4f}")
