import torch
from torch import nn
import torch.nn.functional as F


class Head(nn.Module):
    def __init__(self, d, block=8):
        super().__init__()
        self.key, self.query = nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(block, block)))

    def forward(self, x):
        T = x.shape[1]
        wei = self.query(x) @ self.key(x).transpose(-2, -1)
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        return F.softmax(wei, -1) @ x


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
print(f"{Head(4).to(device)(torch.ones(1, 5, 4, device=device)).sum().item():.4f}")
