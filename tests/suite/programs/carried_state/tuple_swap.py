import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
mix = nn.Bilinear(2, 2, 2).to(device)
a, b = torch.ones(1, 2, device=device), torch.ones(1, 2) * 0.5
for _ in range(3):
    a, b = b, mix(a, b)
print(f"{b.sum().item():.4f}")
