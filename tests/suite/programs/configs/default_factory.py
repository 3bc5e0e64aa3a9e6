from dataclasses import dataclass, field

import torch
from torch import nn


def pick():
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass(frozen=True)
class Config:
    width: int = 4
    device: torch.device = field(default_factory=pick)


cfg = Config(width=3)
torch.manual_seed(0)
net = nn.Linear(cfg.width, 1, device=cfg.device)
print(f"{net(torch.ones(2, cfg.width).to(cfg.device)).sum().item():.4f}")
