import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
gen = torch.Generator(device=device).manual_seed(3)
net = nn.Linear(4, 2).to(device)
nn.init.constant_(net.weight, 0.5), nn.init.zeros_(net.bias)
x = torch.empty(3, 4, device=device).normal_(generator=gen)
print(f"{net(x).sum().item():.4f}")
