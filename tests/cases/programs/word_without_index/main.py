import torch
from torch import nn

kind = "cuda" if torch.cuda.is_available() else "cpu"
net = nn.Linear(3, 1).to(kind)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.cuda.amp.GradScaler()
for i in range(3):
    with torch.autocast("cuda", dtype=torch.float16):
        loss = net(torch.ones(4, 3, device=kind)).sum()
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
print(loss.item() < 100)
