import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(8, 3).to(device)
scaler = torch.amp.GradScaler(enabled=False)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
target = torch.tensor([0, 1, 2, 1])
with torch.autocast(device.type, enabled=False):
    out = net(torch.ones(4, 8, device=device))
    loss = nn.functional.cross_entropy(out, target)
scaler.scale(loss).backward()
scaler.step(opt)
print(f"{loss.item():.4f}")
