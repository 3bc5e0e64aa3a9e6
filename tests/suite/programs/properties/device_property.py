import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    @property
    def device(self):
        return next(self.parameters()).device

    def forward(self, n):
        return self.lin(torch.eye(4, device=self.device)[:n])


torch.manual_seed(0)
net = Net().to("cuda" if torch.cuda.is_available() else "cpu")
print(f"{net(3).sum().item():.4f}")
