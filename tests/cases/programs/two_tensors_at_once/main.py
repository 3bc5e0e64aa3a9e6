import torch
from torch import nn

torch.manual_seed(0)


class Policy(nn.Module):
    def __init__(self, low, high):
        super().__init__()
        self.net = nn.Linear(3, 1)
        self.name, self.scale = "policy", torch.tensor(high - low)
        self.middle, self.width = torch.tensor(high + low) / 2, torch.tensor(high - low) / 2
        self.low, self.high = self.middle - self.width, self.middle + self.width

    def forward(self, x):
        return (self.net(x) * self.scale + self.middle).clamp(self.low, self.high)


policy = Policy(torch.zeros(1).item() - 1.0, 2.0)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
for _ in range(3):
    loss = policy(torch.ones(4, 3)).mul(policy.width).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item(), policy.name, list(policy.state_dict()))
