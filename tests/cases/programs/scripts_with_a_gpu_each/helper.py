import torch
def rows(n):
    return torch.ones(n, 3)
