import os
import tempfile

import torch
from torch import nn

path = os.path.join(tempfile.mkdtemp(), "net.pt")


def load_weights(model, filename, device="cuda"):
    state = torch.load(filename, map_location=device)
    model.load_state_dict({k.replace("module.", ""): v for k, v in state.items()})
    return model.to(device)


torch.manual_seed(0)
torch.save({f"module.{k}": v for k, v in nn.Linear(3, 2).state_dict().items()}, path)
net = load_weights(nn.Linear(3, 2), path)
x = torch.ones(4, 3, device=next(net.parameters()).device)
print(f"{net(x).sum().item():.4f}")
