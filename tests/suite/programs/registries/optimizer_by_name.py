import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
config = {"optimizer": "AdamW", "kwargs": {"lr": 0.05}, "activation": "GELU"}
net = nn.Sequential(nn.Linear(3, 6), getattr(nn, config["activation"])(), nn.Linear(6, 1)).to(device)
opt = getattr(torch.optim, config["optimizer"])(net.parameters(), **config["kwargs"])
x = torch.randn(10, 3).to(device)
for _ in range(4):
    loss = (net(x) - x.mean(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}")
