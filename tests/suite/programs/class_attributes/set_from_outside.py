import torch
from torch import nn


class Codes(nn.Module):
    table = None

    def forward(self, index):
        return self.table[index]


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
Codes.table = torch.eye(4).to(device)
net = nn.Sequential(Codes(), nn.Linear(4, 2)).to(device)
print(f"{net(torch.tensor([0, 2], device=device)).sum().item():.4f}")
