import torch
from torch import nn

torch.manual_seed(0)


class Policy(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.net = nn.Linear(3, size)
        if size:
            self.variance = torch.full((size,), 0.5)

    def narrow(self, variance):
        self.variance = torch.full((self.size,), variance)

    def forward(self, x):
        return self.net(x) * self.variance


policy = Policy(2)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
for step in range(4):
    if step == 2:
        policy.narrow(0.25)
    loss = policy(torch.ones(4, 3)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item(), list(policy.state_dict()))
