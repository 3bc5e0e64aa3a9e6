import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(4, 1).to(device)
scores, best = [], float("-inf")
for _ in range(3):
    out = net(torch.randn(5, 4, device=device)).flatten()
    scores.extend(out.tolist())
    best = max(best, out.max().item())
    scores.append(float(out.sum()))
print(np.asarray(scores).shape, f"{best:.4f}", np.round(np.percentile(scores, 50), 4))
