from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class TrainConfig:
    lr: float = 0.1
    steps: int = 3
    device: str = "cuda"


def train(cfg: TrainConfig) -> float:
    torch.manual_seed(0)
    net = nn.Linear(3, 1).to(cfg.device)
    opt = torch.optim.SGD(net.parameters(), lr=cfg.lr)
    x = torch.ones(4, 3, device=cfg.device)
    for _ in range(cfg.steps):
        loss = net(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


print(f"{train(TrainConfig()):.4f}")
