import torch
from torch import nn
import torch.nn.functional as F


class VQ(nn.Module):
    def __init__(self, k, d, decay=0.9):
        super().__init__()
        self.k, self.d, self.decay = k, d, decay
        embed = torch.randn(k, d)
        self.register_buffer("embed", embed)
        self.register_buffer("count", torch.ones(k))
        self.register_buffer("total", embed.clone())
        self.usage = torch.zeros(k)

    def forward(self, z):
        flat = z.reshape(-1, self.d)
        dist = torch.cdist(flat, self.embed)
        code = dist.argmin(1)
        q = self.embed[code].view_as(z)
        if self.training:
            onehot = torch.zeros(len(code), self.k)
            onehot.scatter_(1, code[:, None], 1.0)
            self.count.mul_(self.decay).add_(onehot.sum(0), alpha=1 - self.decay)
            self.total.mul_(self.decay).add_(onehot.t() @ flat.detach(), alpha=1 - self.decay)
            n = self.count.sum()
            size = (self.count + 1e-5) / (n + self.k * 1e-5) * n
            self.embed.copy_(self.total / size[:, None])
            self.usage += torch.bincount(code, minlength=self.k)
            dead = (self.usage == 0).nonzero().flatten()
            if len(dead):
                pick = torch.randint(0, flat.shape[0], (len(dead),))
                self.embed[dead] = flat[pick].detach()
        commit = F.mse_loss(z, q.detach())
        return z + (q - z).detach(), code.view(z.shape[:-1]), commit


class VQVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Conv1d(1, 4, 4, 2, 1)
        self.vq = VQ(8, 4)
        self.dec = nn.ConvTranspose1d(4, 1, 4, 2, 1)

    def forward(self, x):
        z = self.enc(x).transpose(1, 2)
        q, code, commit = self.vq(z)
        return self.dec(q.transpose(1, 2)), code, commit


torch.manual_seed(0)
model = VQVAE()
opt = torch.optim.Adam(model.parameters(), 1e-2)
phase = torch.rand(64, 1, 1) * 6.28
x = torch.sin(torch.linspace(0, 12, 32) + phase)
for epoch in range(5):
    for batch in x.split(16):
        rec, code, commit = model(batch)
        loss = F.mse_loss(rec, batch) + 0.25 * commit
        opt.zero_grad()
        loss.backward()
        opt.step()
print("%.3f" % loss.item(), int((model.vq.usage > 0).sum()) > 0)
probs = model.vq.usage / model.vq.usage.sum()
print("perplexity %.1f" % torch.exp(-(probs * (probs + 1e-9).log()).sum()).item())
