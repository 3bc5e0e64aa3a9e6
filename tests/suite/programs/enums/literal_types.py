from typing import Literal

import torch
from torch import nn


def resolve(name: Literal["auto", "cpu"] = "auto") -> torch.device:
    match name:
        case "cpu":
            return torch.device("cpu")
        case _:
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")


torch.manual_seed(0)
where = resolve()
net = nn.Linear(3, 1).to(where)
print(f"{net(torch.ones(2, 3).to(where)).sum().item():.4f}")
