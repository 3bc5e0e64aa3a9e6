import torch
from torch import nn

count = torch.cuda.device_count()
device = torch.device(f"cuda:{count - 1}" if count else "cpu")
torch.manual_seed(0)
net = nn.Linear(3, 1).to(device)
x = torch.randn(8, 3, device=device)
print(f"{net(x).mean().item():.4f}")
