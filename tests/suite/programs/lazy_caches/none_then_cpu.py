import torch
from torch import nn


class Causal(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
        self._mask = None

    def forward(self, x):
        n = x.shape[1]
        if self._mask is None or self._mask.shape[0] < n:
            self._mask = torch.full((n, n), float("-inf")).triu(1)
        q, k, v = self.qkv(x).chunk(3, -1)
        scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5 + self._mask[:n, :n]
        return scores.softmax(-1) @ v


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
layer = Causal(8).to(device)
print(f"{layer(torch.randn(2, 5, 8, device=device)).sum().item():.4f}")
