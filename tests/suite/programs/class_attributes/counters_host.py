import torch
from torch import nn


class Net(nn.Module):
    calls = 0
    history = []

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 1)

    def forward(self, x):
        Net.calls += 1
        y = self.lin(x)
        Net.history.append(y.mean().item())
        return y


torch.manual_seed(0)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    opt.zero_grad()
    net(torch.ones(4, 3)).pow(2).mean().backward()
    opt.step()
print(Net.calls, f"{Net.history[-1]:.4f}")
