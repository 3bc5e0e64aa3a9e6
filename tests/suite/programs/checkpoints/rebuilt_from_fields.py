import os
import tempfile

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
path = os.path.join(tempfile.mkdtemp(), "best.pth")


def load(filename):
    ckpt = torch.load(filename, map_location="cpu")
    model = nn.Sequential(nn.Linear(ckpt["in"], ckpt["hidden"]), nn.ReLU(), nn.Linear(ckpt["hidden"], ckpt["out"]))
    model.load_state_dict(ckpt["state"])
    return model


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to(device)
torch.save({"in": 4, "hidden": 8, "out": 2, "state": net.state_dict()}, path)
restored = load(path)
x = torch.randn(3, 4, device=device)
print(torch.allclose(restored(x), net(x)))
