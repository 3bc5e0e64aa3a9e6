try:
    import some_optional_kernels as kernels
except ImportError:
    kernels = None

import torch
from torch import nn


def gelu(x):
    if kernels is not None:
        return kernels.gelu(x)
    return nn.functional.gelu(x)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 1).to(device)
print(f"{gelu(net(torch.ones(2, 3, device=device))).sum().item():.4f}")
