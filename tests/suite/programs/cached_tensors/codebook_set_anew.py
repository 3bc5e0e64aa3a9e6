import torch
from torch import nn
import torch.nn.functional as F


class VectorQuantizerEMA(nn.Module):
    def __init__(self, n_codes, dim, decay=0.9, eps=1e-5):
        super().__init__()
        self.n_codes, self.decay, self.eps = n_codes, decay, eps
        embed = torch.randn(n_codes, dim)
        self.embed = embed
        self.ema_w = embed.clone()
        self.cluster = torch.zeros(n_codes)

    def forward(self, z):
        flat = z.reshape(-1, z.shape[-1])
        d = flat.pow(2).sum(1, keepdim=True) - 2 * flat @ self.embed.t() + self.embed.pow(2).sum(1)
        idx = d.argmin(1)
        onehot = F.one_hot(idx, self.n_codes).type(flat.dtype)
        q = (onehot @ self.embed).view_as(z)
        if self.training:
            with torch.no_grad():
                self.cluster = self.cluster * self.decay + (1 - self.decay) * onehot.sum(0)
                self.ema_w = self.ema_w * self.decay + (1 - self.decay) * onehot.t() @ flat
                n = self.cluster.sum()
                c = (self.cluster + self.eps) / (n + self.n_codes * self.eps) * n
                self.embed = self.ema_w / c.unsqueeze(1)
        loss = F.mse_loss(q.detach(), z)
        p = onehot.mean(0)
        return z + (q - z).detach(), loss, torch.exp(-(p * (p + 1e-10).log()).sum())


class VQVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.vq, self.dec = nn.Linear(10, 4), VectorQuantizerEMA(8, 4), nn.Linear(4, 10)

    def forward(self, x):
        q, l, perp = self.vq(self.enc(x))
        return self.dec(q), l, perp


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = VQVAE().to(device)
opt = torch.optim.Adam(model.parameters(), 1e-2)
batches = torch.randn(8, 16, 10)
for x in batches:
    x = x.to(device)
    out, vq_loss, perp = model(x)
    loss = F.mse_loss(out, x) + 0.25 * vq_loss
    opt.zero_grad(); loss.backward(); opt.step()
print(f"{loss.item():.4f} {perp.item():.3f}")
