import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.start()

    def start(self):
        for param in self.parameters():
            if param.ndim > 1:
                width = param.size(-1)
                param.data[:width] += torch.diag(torch.ones(width)) / width

    def forward(self, x):
        return self.query(x)


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
net = nn.Linear(2, 2).to(device)
print(round(net(torch.ones(1, 2, device=device)).sum().item(), 4))
