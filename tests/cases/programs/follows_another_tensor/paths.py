import torch


def speed(t):
    return torch.ones(t.shape).to(t) * 2
