import torch
from torch import nn
from torch.cuda.amp import GradScaler, autocast


def stream(n):
    gen = torch.Generator().manual_seed(0)
    for _ in range(n):
        yield torch.randn(4, 3, generator=gen).cuda(), torch.randn(4, 1, generator=gen).cuda()


torch.manual_seed(0)
torch.backends.cudnn.benchmark = True
net = nn.Linear(3, 1).cuda()
opt = torch.optim.AdamW(net.parameters(), 0.01)
scaler = GradScaler()
for i, (x, y) in enumerate(stream(4)):
    with autocast():
        loss = nn.functional.mse_loss(net(x), y) / 2
    scaler.scale(loss).backward()
    if i % 2:
        scaler.unscale_(opt)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(opt)
        scaler.update()
        opt.zero_grad()
print(bool(loss.float() >= 0))
