import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 4).to(device)
x = torch.randn(10, 3, device=device)
features = torch.relu(net(x))
solution, *_ = np.linalg.lstsq(features.detach().cpu().numpy(), x.sum(1).cpu().numpy(), rcond=None)
w = features.new_tensor(solution)
print(tuple((features @ w).shape))
