import os
import tempfile

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
path = os.path.join(tempfile.mkdtemp(), "net.pt")
net = nn.Linear(3, 2).to(device)
torch.save({"model": net.state_dict(), "mean": torch.ones(3)}, path)
fresh = nn.Linear(3, 2).to(device)
state = torch.load(path)
fresh.load_state_dict(state["model"])
x = torch.ones(4, 3, device=device) - state["mean"]
print(fresh(x).shape, f"{x.sum().item():.1f}")
