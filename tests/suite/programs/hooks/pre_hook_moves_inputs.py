import torch
from torch import nn


def to_weights(module, args):
    return tuple(a.to(module.weight.device) for a in args)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(4, 3).to(device)
net.register_forward_pre_hook(to_weights)
print(f"{net(torch.ones(2, 4)).sum().item():.4f}")
