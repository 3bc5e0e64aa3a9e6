import numpy as np
import torch
from torch import nn


def to_numpy(value):
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().numpy()
    if isinstance(value, dict):
        return {k: to_numpy(v) for k, v in value.items()}
    return np.asarray(value)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(4, 2).to(device)
result = to_numpy({"out": net(torch.ones(3, 4, device=device)), "w": net.weight, "ids": [1, 2]})
print({k: v.shape for k, v in result.items()}, np.round(result["out"].sum(), 4))
