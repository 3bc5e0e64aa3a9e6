import torch
from torch import nn
from torchdiffeq import odeint

torch.manual_seed(0)


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))

    def forward(self, t, y):
        return self.net(y) * t


class Solver(nn.Module):
    def __init__(self, field):
        super().__init__()
        self.field = field

    def end(self, y, times=torch.tensor([0.0, 1.0])):
        def changed(t, states):
            change = self.field(t, states[0])
            return change, change.sum(1)

        path, total = odeint(changed, (y, torch.zeros(len(y), device=y.device)), times)
        return path[-1], total[-1]


field = Field()
solver = Solver(field)
optimizer = torch.optim.SGD(field.parameters(), lr=0.1)
for _ in range(3):
    y, total = solver.end(torch.rand(4, 2))
    loss = (y - torch.ones(2)).pow(2).mean() + total.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
