import importlib

import torch
from torch import nn


class Adapted(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        self.extra = nn.Linear(2, 2)

    def forward(self, x):
        return self.extra(self.backbone.encoder(x))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
zoo = importlib.import_module("zoo")
adapted = Adapted(zoo.get("small")).to(device)
print(round(adapted.backbone.encoder(torch.ones(1, 3)).sum().item(), 4))
print(round(adapted(torch.ones(1, 3, device=device)).sum().item(), 4))
