import copy

import torch
from torch import nn


class EMA:
    def __init__(self, model, decay=0.9):
        self.module = copy.deepcopy(model).eval().requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for s, p in zip(self.module.state_dict().values(), model.state_dict().values()):
            s.copy_(self.decay * s + (1 - self.decay) * p)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 1).to(device)
ema = EMA(model)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(32, 4).to(device)
for _ in range(5):
    loss = (model(x) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    ema.update(model)
print(f"{(ema.module(x) - 1).pow(2).mean().item():.4f}")
