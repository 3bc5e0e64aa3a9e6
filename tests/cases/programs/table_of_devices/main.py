from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Settings:
    device: torch.device
    steps: int


def named(name: str) -> torch.device:
    match name:
        case "cuda":
            return torch.device("cuda")
        case _:
            return torch.device("cpu")


NAME = "cuda" if torch.cuda.is_available() else "cpu"
SETTINGS = {
    "cuda": Settings(device=torch.device("cuda"), steps=4),
    "cpu": Settings(device=torch.device("cpu"), steps=4),
}
settings = SETTINGS[NAME]
torch.manual_seed(0)
model = nn.Linear(2, 1).to(settings.device)
x = torch.ones(3, 2, device=named(NAME))
for _ in range(settings.steps):
    loss = model(x).sum()
    loss.backward()
print(round(loss.item(), 4))
