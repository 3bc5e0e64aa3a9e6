import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        self.g = nn.Parameter(torch.ones_like(inner.weight[:, 0]))

    def forward(self, x):
        return self.inner(x) * self.g


def attach(net):
    for name, child in net.named_children():
        if isinstance(child, nn.Linear):
            setattr(net, name, Gate(child))
        else:
            attach(child)


torch.manual_seed(0)
dev = "cuda" if torch.cuda.is_available() else "cpu"
net = nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.ReLU(), nn.Linear(4, 1))).to(dev)
attach(net)
opt = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(3):
    loss = net(torch.randn(5, 3, device=dev)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
print(f"{loss.item():.4f}")
