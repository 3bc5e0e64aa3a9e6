import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim, base=100.0):
        super().__init__()
        inv = 1.0 / base ** (torch.arange(0, dim, 2).float() / dim)
        self.register_buffer("inv", inv, persistent=False)

    def forward(self, q):
        t = torch.arange(q.shape[-2], device=self.inv.device).type_as(self.inv)
        angle = torch.cat([torch.outer(t, self.inv)] * 2, -1)
        left, right = q.chunk(2, -1)
        return q * angle.cos() + torch.cat([-right, left], -1) * angle.sin()


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
rotary, proj = Rotary(8).to(device), nn.Linear(8, 8).to(device)
print(f"{rotary(proj(torch.randn(2, 5, 8, device=device))).sum().item():.4f}")
