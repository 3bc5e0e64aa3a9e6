import torch
from torch import nn


def subsequent_mask(size):
    return torch.triu(torch.ones(size, size), diagonal=1) == 0


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.proj = nn.Linear(d, d)

    def forward(self, x):
        scores = x @ self.proj(x).transpose(-2, -1)
        scores = scores.masked_fill(~subsequent_mask(x.size(1)), -1e9)
        return scores.softmax(-1) @ x


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
block = Block(4).to(device)
print(f"{block(torch.randn(2, 5, 4, device=device)).sum().item():.4f}")
