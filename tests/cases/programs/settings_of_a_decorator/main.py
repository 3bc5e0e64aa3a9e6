from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Settings:
    device: str = "cuda"
    steps: int = 2


class Learner:
    def __init__(self, net, device="cpu"):
        self._device = device
        self.net = net
        self.scale = nn.Linear(1, 1)

    def step(self, x):
        return self.scale(self.net(x)).mean()


def wrapped(function):
    return lambda: function(Settings())


@globals()["wrapped"]
def train(settings: Settings):
    torch.manual_seed(0)
    net = nn.Linear(2, 1).to(settings.device)
    learner = Learner(net, device=settings.device)
    for _ in range(settings.steps):
        print(learner.step(torch.ones(2, 2, device=settings.device)).item())


train()
