import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
step = nn.Sequential(nn.Linear(2, 2), nn.Tanh()).to(device)
z = torch.zeros(1, 2)
rounds = 0
while rounds < 10:
    following = step(z)
    if (following - z).norm() < 1e-3:
        break
    z, rounds = following.detach(), rounds + 1
print(rounds > 0, f"{z.sum().item():.2f}")
