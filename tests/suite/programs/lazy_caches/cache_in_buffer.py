import torch
from torch import nn


class Alibi(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))
        self.register_buffer("bias", None, persistent=False)

    def forward(self, scores):
        n = scores.size(-1)
        if self.bias is None or self.bias.size(-1) < n:
            line = torch.arange(n, device=scores.device)
            self.bias = -(line[None] - line[:, None]).abs().to(scores.dtype)
        return scores + self.scale * self.bias[:n, :n]


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
alibi = Alibi().to(device)
print([alibi(torch.zeros(n, n, device=device)).sum().item() for n in (3, 2, 4)])
