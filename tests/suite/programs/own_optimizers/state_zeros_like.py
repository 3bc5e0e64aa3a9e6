import torch
from torch import nn
from torch.optim import Optimizer


class SignSGD(Optimizer):
    def __init__(self, params, lr=0.01, beta=0.9):
        super().__init__(params, {"lr": lr, "beta": beta})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if "avg" not in state:
                    state["avg"] = torch.zeros_like(p)
                state["avg"].lerp_(p.grad, 1 - group["beta"])
                p.add_(state["avg"].sign(), alpha=-group["lr"])


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 1).to(device)
opt = SignSGD(net.parameters())
x = torch.randn(20, 3, device=device)
for _ in range(5):
    loss = (net(x) - x[:, :1]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}")
