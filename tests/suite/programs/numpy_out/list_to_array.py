import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(4, 3).to(device).eval()
preds = []
with torch.no_grad():
    for _ in range(3):
        preds.append(net(torch.randn(5, 4, device=device)).argmax(1))
everything = np.concatenate([p.numpy() for p in preds])
print(np.bincount(everything, minlength=3).tolist())
