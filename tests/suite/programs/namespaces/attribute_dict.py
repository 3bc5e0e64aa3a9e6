import torch
from torch import nn


class Conf(dict):
    def __getattr__(self, key):
        value = self[key]
        return Conf(value) if isinstance(value, dict) else value


cfg = Conf({"device": "cuda", "model": {"width": 3}})
torch.manual_seed(0)
net = nn.Linear(cfg.model.width, 1).to(cfg.device)
print(f"{net(torch.ones(2, 3, device=cfg.device)).sum().item():.4f}")
