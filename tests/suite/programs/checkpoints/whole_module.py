import os
import tempfile

import torch
from torch import nn

torch.manual_seed(0)
path = os.path.join(tempfile.mkdtemp(), "whole.pth")
torch.save(nn.Sequential(nn.Linear(3, 4), nn.Tanh()), path)
model = torch.load(path, weights_only=False)
model.cuda().eval()
with torch.no_grad():
    print(f"{model(torch.ones(2, 3).cuda()).sum().item():.4f}")
