import torch
from torch import nn

from losses import OrdinalLoss

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(4, 5).to(device)
criterion = OrdinalLoss(5)
y = torch.arange(6, device=device) % 5
print(f"{criterion(net(torch.ones(6, 4, device=device)), y).item():.4f}")
