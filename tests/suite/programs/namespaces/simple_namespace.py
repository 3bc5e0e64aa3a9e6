from types import SimpleNamespace

import torch
from torch import nn


def build(opt):
    return nn.Linear(opt.width, 2).to(opt.device)


def evaluate(opt, net, rows):
    return sum(score(opt, net, row) for row in rows)


def score(opt, net, row):
    return net(torch.tensor(row).to(opt.device)).max().item()


opt = SimpleNamespace(width=2, device=torch.device("cuda" if torch.cuda.is_available() else "cpu"))
torch.manual_seed(0)
print(f"{evaluate(opt, build(opt), [[0.0, 1.0], [2.0, 3.0]]):.4f}")
