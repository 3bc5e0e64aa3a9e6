import torch
from torch import nn


class OnlineNorm(nn.Module):
    def __init__(self, d, momentum=0.1):
        super().__init__()
        self.momentum = momentum
        self.mu = torch.zeros(d)
        self.var = torch.ones(d)
        self.initialised = False

    def forward(self, x):
        if self.training:
            with torch.no_grad():
                if not self.initialised:
                    self.mu, self.var = x.mean(0), x.var(0)
                    self.initialised = True
                else:
                    self.mu = (1 - self.momentum) * self.mu + self.momentum * x.mean(0)
                    self.var = (1 - self.momentum) * self.var + self.momentum * x.var(0)
        return (x - self.mu) / (self.var + 1e-5).sqrt()


torch.manual_seed(0)
dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Sequential(OnlineNorm(3), nn.Linear(3, 2)).to(dev)
opt = torch.optim.SGD(net.parameters(), 0.1)
net.eval()
print(f"{net(torch.ones(2, 3, device=dev)).sum().item():.4f}")
net.train()
for _ in range(3):
    loss = net(torch.randn(8, 3, device=dev)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
print(f"{loss.item():.4f}")
