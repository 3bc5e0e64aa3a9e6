import os
import tempfile

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
path = os.path.join(tempfile.mkdtemp(), "c.pth")
torch.save({"net": nn.Linear(3, 1).state_dict(), "stats": {"mean": torch.zeros(3), "std": torch.ones(3) * 2}}, path)
ckpt = torch.load(path, map_location="cpu")
net = nn.Linear(3, 1)
net.load_state_dict(ckpt["net"])
net = net.to(device).eval()
x = torch.randn(5, 3).to(device)
x = (x - ckpt["stats"]["mean"]) / ckpt["stats"]["std"]
print(f"{net(x).sum().item():.4f}")
