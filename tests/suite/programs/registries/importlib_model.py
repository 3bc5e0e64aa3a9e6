import importlib

import torch


def instantiate(spec):
    module, _, name = spec["target"].rpartition(".")
    return getattr(importlib.import_module(module), name)(**spec.get("params", {}))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = instantiate({"target": "torch.nn.Linear", "params": {"in_features": 3, "out_features": 2}}).to(device)
loss = instantiate({"target": "torch.nn.MSELoss"})
x = torch.ones(4, 3, device=device)
print(f"{loss(net(x), torch.zeros(4, 2, device=device)).item():.4f}")
