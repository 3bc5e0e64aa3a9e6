import math

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 1).to(device)
factors = torch.tensor([0.1, 0.5, 1.0])
opt = torch.optim.SGD(model.parameters(), lr=0.1)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda e: float(factors[min(e, 2)]) * math.exp(-0.1 * e))
x = torch.ones(2, 3, device=device)
for _ in range(4):
    opt.zero_grad()
    model(x).pow(2).mean().backward()
    opt.step()
    sched.step()
print(f"{sched.get_last_lr()[0]:.5f}")
