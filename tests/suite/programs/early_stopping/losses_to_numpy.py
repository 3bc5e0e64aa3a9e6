import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 1).to(device)
losses = []
for epoch in range(4):
    losses.append(model(torch.ones(1, 3, device=device) * epoch).abs().sum().detach())
curve = torch.stack(losses).numpy()
print(int(np.argmin(curve)), f"{curve.max():.4f}")
