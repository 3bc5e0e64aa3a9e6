import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 2).to(device)
total, best = None, None
for k in range(4):
    out = net(torch.ones(2, 3, device=device) * k).detach()
    total = out if total is None else total + out
    if best is None or out.sum() > best.sum():
        best = out
print(f"{(total / 4).sum().item():.4f} {(total - best).sum().item():.4f}")
