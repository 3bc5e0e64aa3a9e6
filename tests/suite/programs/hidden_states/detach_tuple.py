import torch
from torch import nn


def repackage(h):
    return h.detach() if isinstance(h, torch.Tensor) else tuple(repackage(v) for v in h)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
lstm, head = nn.LSTM(3, 4).to(device), nn.Linear(4, 3).to(device)
h = (torch.zeros(1, 2, 4, device=device),) * 2
for k in range(3):
    h = repackage(h)
    out, h = lstm(torch.ones(5, 2, 3, device=device) * k, h)
print(f"{head(out).mean().item():.4f}")
