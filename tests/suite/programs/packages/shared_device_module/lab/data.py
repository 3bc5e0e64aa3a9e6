import torch

from .where import DEVICE


def batches(n):
    for i in range(n):
        x = torch.full((4, 3), float(i), device=DEVICE)
        yield x, x.sum(1, keepdim=True)
