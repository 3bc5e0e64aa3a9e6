import os
import tempfile

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
path = os.path.join(tempfile.mkdtemp(), "net.pt")
torch.manual_seed(0)
net = nn.Linear(2, 1).to(device)
torch.save(nn.DataParallel(net).state_dict(), path)
print(nn.DataParallel(net).load_state_dict(torch.load(path, map_location=device)))
print(round(net(torch.ones(4, 2, device=device)).sum().item(), 4))
