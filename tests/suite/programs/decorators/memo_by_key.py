import torch
from torch import nn


def memo(fn):
    cache = {}

    def inner(n):
        if n not in cache:
            cache[n] = fn(n)
        return cache[n]

    return inner


@memo
def targets(n):
    return torch.arange(n) % 2


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 2).to(device)
for n in (2, 4, 2):
    loss = nn.functional.cross_entropy(model(torch.ones(n, 3, device=device)), targets(n))
    print(f"{loss.item():.4f}")
