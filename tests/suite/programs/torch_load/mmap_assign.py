import os
import tempfile

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
path = os.path.join(tempfile.mkdtemp(), "net.pt")
torch.save(nn.Linear(3, 2).state_dict(), path)
with torch.device("meta"):
    net = nn.Linear(3, 2)
net.load_state_dict(torch.load(path, map_location=device), assign=True)
print(f"{net(torch.ones(1, 3, device=device)).sum().item():.4f}")
