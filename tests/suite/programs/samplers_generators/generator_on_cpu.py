import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
gen = torch.Generator()
gen.manual_seed(3)
net = nn.Linear(4, 2).to(device)
nn.init.ones_(net.weight), nn.init.zeros_(net.bias)
x = torch.randn(3, 4, generator=gen, device=device)
print(f"{net(x).sum().item():.4f}")
