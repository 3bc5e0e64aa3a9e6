import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(8, 1).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
scaler = torch.cuda.amp.GradScaler()
for _ in range(2):
    x = torch.randn(4, 8).cuda()
    with torch.cuda.amp.autocast():
        loss = net(x).float().pow(2).mean()
    opt.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
print(loss.dtype)
