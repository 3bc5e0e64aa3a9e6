from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    classes: int = 3
    device: str = "cuda" if torch.cuda.is_available() else "cpu"


class Job:
    def __init__(self, cfg):
        self.cfg = cfg
        self.net = nn.Linear(4, cfg.classes).to(cfg.device)

    def batch(self):
        return torch.ones(6, 4), torch.arange(6) % self.cfg.classes

    def loss(self):
        x, y = self.batch()
        return nn.functional.cross_entropy(self.net(x), y)


torch.manual_seed(0)
print(f"{Job(Config()).loss().item():.4f}")
