import argparse
import json
import torch
from torch import nn

p = argparse.ArgumentParser()
p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
p.add_argument("--lr", type=float, default=0.1)


class Log:
    def __init__(self, **kw):
        self.__dict__.update(kw)

    def __repr__(self):
        return json.dumps({k: v for k, v in vars(self).items() if k != "device"})


args = p.parse_args()
log = Log(**vars(args))
torch.manual_seed(0)
net = nn.Linear(2, 1).to(args.device)
opt = torch.optim.SGD(net.parameters(), args.lr)
x = torch.ones(3, 2, device=args.device)
for _ in range(3):
    loss = net(x).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
print(log, f"{loss.item():.5f}")
