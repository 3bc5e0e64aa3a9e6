import torch
from torch import nn


class VQ(nn.Module):
    def __init__(self, k, d):
        super().__init__()
        self.codebook = nn.Parameter(torch.randn(k, d), requires_grad=False)
        self.ema_w = self.codebook.clone()
        self.ema_n = torch.zeros(k)

    def forward(self, z):
        idx = torch.cdist(z, self.codebook).argmin(1)
        one = nn.functional.one_hot(idx, len(self.codebook)).float()
        self.ema_n = 0.9 * self.ema_n + 0.1 * one.sum(0)
        self.ema_w = 0.9 * self.ema_w + 0.1 * one.T @ z.detach()
        self.codebook.data = self.ema_w / (self.ema_n[:, None] + 1)
        return z + (self.codebook[idx] - z).detach()


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
enc, vq = nn.Linear(3, 4).to(device), VQ(5, 4).to(device)
x = torch.randn(8, 3).to(device)
for _ in range(2):
    out = vq(enc(x))
print(out.shape)
