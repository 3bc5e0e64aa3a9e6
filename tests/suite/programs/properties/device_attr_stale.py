import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.device = self.lin.weight.device

    def forward(self, x):
        return self.lin(x) + torch.ones(3, device=self.device)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = Net().to(device)
print(f"{net(torch.ones(2, 3, device=device)).sum().item():.4f}")
