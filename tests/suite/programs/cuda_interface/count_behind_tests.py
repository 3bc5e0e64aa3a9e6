import torch
from torch import nn

n = torch.cuda.device_count()
ids = list(range(n))
batch = 12
if ids:
    per = batch // len(ids)
else:
    per = batch
scale = 1 / n if n > 0 else 1.0
workers = (4 + n - 1) // n if torch.cuda.is_available() else 0
torch.manual_seed(0)
device = torch.device("cuda" if n else "cpu")
net = nn.Linear(3, 1).to(device)
print(net(torch.ones(per, 3, device=device)).shape, scale, workers >= 0)
