import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
use_amp = device.type == "cuda"
net = nn.Linear(8, 1).to(device)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
scaler = torch.amp.GradScaler(device.type, enabled=use_amp)
for _ in range(2):
    x = torch.randn(4, 8, device=device)
    with torch.autocast(device_type=device.type, dtype=torch.float16, enabled=use_amp):
        loss = net(x).float().pow(2).mean()
    opt.zero_grad(set_to_none=True)
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
print(loss.dtype)
