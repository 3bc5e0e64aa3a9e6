import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
net = nn.Linear(3, 1).to(device)
with torch.random.fork_rng(devices=[]):
    torch.manual_seed(9)
    noise = torch.rand(2, 3)
print(f"{net(noise.to(net.weight.device)).sum().item():.4f} {torch.rand(1).item():.4f}")
