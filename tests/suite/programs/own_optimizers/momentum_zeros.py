import torch
from torch import nn


class Momentum:
    def __init__(self, params, lr, beta=0.9):
        self.params = list(params)
        self.lr, self.beta = lr, beta
        self.velocity = [torch.zeros(p.shape) for p in self.params]

    @torch.no_grad()
    def step(self):
        for p, v in zip(self.params, self.velocity):
            v.mul_(self.beta).add_(p.grad)
            p.sub_(self.lr * v)

    def zero_grad(self):
        for p in self.params:
            p.grad = None


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 1).to(device)
opt = Momentum(net.parameters(), lr=0.05)
x = torch.randn(20, 3, device=device)
for _ in range(5):
    loss = (net(x) - x[:, :1]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}")
