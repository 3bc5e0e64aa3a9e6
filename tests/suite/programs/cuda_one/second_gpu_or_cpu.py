import torch
from torch import nn

index = 1 if torch.cuda.device_count() > 1 else 0
device = torch.device(f"cuda:{index}" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
net = nn.Linear(3, 2).to(device)
x = torch.randn(8, 3, device=device)
y = torch.randint(0, 2, (8,))
print(f"{nn.functional.cross_entropy(net(x), y).item():.4f}")
