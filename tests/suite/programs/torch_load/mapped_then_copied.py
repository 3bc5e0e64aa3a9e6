import os
import tempfile

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
path = os.path.join(tempfile.mkdtemp(), "net.pt")
torch.save(nn.Linear(3, 2).state_dict(), path)
fresh = nn.Linear(3, 2).to(device)
fresh.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
print(f"{fresh(torch.ones(4, 3, device=device)).sum().item():.4f}")
