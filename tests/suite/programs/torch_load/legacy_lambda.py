import os
import tempfile

import torch
from torch import nn

torch.manual_seed(0)
path = os.path.join(tempfile.mkdtemp(), "net.pt")
torch.save(nn.Linear(3, 2).state_dict(), path)
net = nn.Linear(3, 2)
net.load_state_dict(torch.load(path, map_location=lambda storage, loc: storage))
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net.to(device)
print(f"{net(torch.ones(4, 3).to(device)).sum().item():.4f}")
