import torch
from torch import nn

shared = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
plain = nn.Linear(4, 8)


def collate(rows, kind="train"):
    done = []
    for row, _ in rows:
        done.append(shared(row) if kind == "train" else plain(row))
    return torch.stack(done)
