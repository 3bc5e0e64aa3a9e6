import torch
from torch import nn


class CFG:
    width = 3
    device = "cuda:0" if torch.cuda.is_available() else "cpu"


def build(cfg=CFG):
    return nn.Linear(cfg.width, 1).to(cfg.device)


def inputs(n, device=None):
    return torch.ones(n, CFG.width, device=device or CFG.device)


torch.manual_seed(0)
print(f"{build()(inputs(2)).sum().item():.4f}")
