import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.past = None

    def forward(self, x):
        k, v = self.k(x), self.v(x)
        if self.past is not None:
            k, v = torch.cat([self.past[0], k], 1), torch.cat([self.past[1], v], 1)
        self.past = (k, v)
        return torch.nn.functional.scaled_dot_product_attention(self.q(x), k, v)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
attn = Attention(6).to(device).eval()
x = torch.randn(1, 1, 6, device=device)
with torch.no_grad():
    for _ in range(5):
        x = attn(x)
print(tuple(attn.past[0].shape), f"{x.sum().item():.4f}")
