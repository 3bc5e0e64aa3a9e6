import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 1).to(device)
loss = net(torch.ones(2, 3, device=device)).sum()
if device.type == "cuda":
    used = torch.cuda.max_memory_allocated(device) / 2**20
    torch.cuda.reset_peak_memory_stats(device)
    assert used >= 0
print(f"{loss.item():.4f}")
