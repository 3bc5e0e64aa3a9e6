from functools import partial

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
loss_fn = partial(F.cross_entropy, weight=torch.tensor([1.0, 3.0]), label_smoothing=0.1)
net = nn.Linear(3, 2).to(device)
x, y = torch.ones(4, 3, device=device), torch.tensor([0, 1, 0, 1], device=device)
print(f"{loss_fn(net(x), y).item():.4f}")
