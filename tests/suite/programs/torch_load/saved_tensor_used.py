import os
import tempfile

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
path = os.path.join(tempfile.mkdtemp(), "train.pt")
torch.save((torch.randn(10, 4), torch.randint(3, (10,))), path)
features, labels = torch.load(path)
net = nn.Linear(4, 3).to(device)
print(f"{nn.functional.cross_entropy(net(features), labels).item():.4f}")
