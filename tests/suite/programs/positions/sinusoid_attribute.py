import math

import torch
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, dim, length=32):
        super().__init__()
        position = torch.arange(length).unsqueeze(1)
        rate = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
        pe = torch.zeros(length, 1, dim)
        pe[:, 0, 0::2] = torch.sin(position * rate)
        pe[:, 0, 1::2] = torch.cos(position * rate)
        self.pe = pe
        self.dropout = nn.Dropout(0.0)

    def forward(self, x):
        return self.dropout(x + self.pe[: x.size(0)])


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(3, 6), PositionalEncoding(6), nn.Linear(6, 1)).to(device)
print(f"{model(torch.randn(7, 2, 3, device=device)).sum().item():.4f}")
