import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n
        self.parts = [nn.Linear(3, 3) for _ in range(2 * n)]
        self.out = nn.Linear(3, 1)

    def forward(self, x):
        for i in range(self.n):
            x = self.parts[2 * i + 1](self.parts[2 * i](x)) + x
        return self.out(x)


torch.manual_seed(0)
net = Net(2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.randn(4, 3)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
