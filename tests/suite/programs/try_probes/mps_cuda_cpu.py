import torch
from torch import nn

if torch.cuda.is_available():
    device = torch.device("cuda")
elif getattr(torch.backends, "mps", None) is not None and torch.backends.mps.is_available():
    device = torch.device("mps")
else:
    device = torch.device("cpu")
torch.manual_seed(0)
net = nn.Linear(3, 1).to(device)
print(f"{net(torch.ones(2, 3, device=device)).sum().item():.4f}")
