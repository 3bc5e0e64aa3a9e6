from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class TrainConfig:
    lr: float = 0.1
    sizes: list = field(default_factory=lambda: [3, 8, 2])
    device: str = "cuda"
    amp: bool = False


def mlp(sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.ELU()]
    return nn.Sequential(*layers[:-1])


def train(cfg: TrainConfig):
    torch.manual_seed(0)
    net = mlp(cfg.sizes).to(cfg.device)
    opt = torch.optim.SGD(net.parameters(), cfg.lr)
    for _ in range(3):
        x = torch.randn(5, cfg.sizes[0], device=cfg.device)
        loss = nn.functional.cross_entropy(net(x), x.argmax(1).clamp(max=1))
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss


print(bool(train(TrainConfig(lr=0.05)) > 0))
