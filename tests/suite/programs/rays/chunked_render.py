import torch
from torch import nn


def batchify(fn, chunk):
    def run(x):
        return torch.cat([fn(x[i : i + chunk]) for i in range(0, x.shape[0], chunk)], 0)

    return run


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
field = nn.Linear(3, 1).to(device)
rays = torch.linspace(0, 1, 21).view(7, 3).to(device)
print(f"{batchify(field, 3)(rays).sum().item():.4f}")
