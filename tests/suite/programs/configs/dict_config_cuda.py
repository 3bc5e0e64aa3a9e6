import torch
from torch import nn

CONFIG = {"model": {"in": 3, "out": 1}, "train": {"lr": 0.1, "device": "cuda:0"}}
device = torch.device(CONFIG["train"]["device"])
torch.manual_seed(0)
net = nn.Linear(CONFIG["model"]["in"], CONFIG["model"]["out"]).to(device)
print(f"{net(torch.ones(2, 3, device=device)).sum().item():.4f}")
