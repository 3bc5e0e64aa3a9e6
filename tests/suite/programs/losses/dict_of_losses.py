import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(4, 2).to(device)
criteria = {"l1": nn.L1Loss(), "mse": nn.MSELoss()}
x, y = torch.ones(3, 4, device=device), torch.zeros(3, 2).to(device)
total, parts = torch.tensor(0.0), {}
for name, criterion in criteria.items():
    parts[name] = criterion(net(x), y)
    total = total + parts[name]
total.backward()
print({k: round(v.item(), 4) for k, v in parts.items()}, f"{total.item():.4f}")
