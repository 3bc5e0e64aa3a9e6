from dataclasses import dataclass
from typing import Union

import torch
from torch import nn


@dataclass
class Config:
    device: Union[str, torch.device] = "auto"
    width: int = 3

    def __post_init__(self):
        if self.device == "auto":
            self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


cfg = Config()
torch.manual_seed(0)
net = nn.Linear(cfg.width, 1).to(cfg.device)
print(f"{net(torch.ones(2, cfg.width, device=cfg.device)).sum().item():.4f}")
