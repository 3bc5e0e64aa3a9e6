import torch
from torch import nn


def cuda_works():
    if not torch.cuda.is_available():
        return False
    try:
        torch.ones(1, device="cuda").add_(1)
        torch.zeros(1).cuda()
    except RuntimeError:
        return False
    return True


def half_works(device):
    try:
        nn.Linear(2, 2).to(device).half()(torch.ones(1, 2).half().to(device))
        return True
    except Exception:
        return False


device = torch.device("cuda" if cuda_works() else "cpu")
torch.manual_seed(0)
net = nn.Linear(3, 2).to(device)
print(f"{net(torch.ones(1, 3, device=device)).sum().item():.4f}", half_works(device) in (True, False))
