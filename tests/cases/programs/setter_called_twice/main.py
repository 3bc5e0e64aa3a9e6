import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.set_var(0.5)
    def set_var(self, s):
        self.var = torch.full((2,), s)
    def forward(self, x):
        return self.fc(x) * self.var
torch.manual_seed(0)
net = Net()
net.set_var(0.1)
print(net(torch.randn(3, 2)).sum().item())
