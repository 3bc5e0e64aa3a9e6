import torch
import torch.nn.functional as F
from torch import nn


class Bank(object):
    """A memory of features by index of the sample."""

    def __init__(self, n, d, momentum=0.5):
        self.momentum = momentum
        self.feats = F.normalize(torch.rand(n, d) - 0.5, dim=1)
        self.labels = -torch.ones(n).long()

    def update(self, idx, feats, y):
        old = self.feats[idx]
        self.feats[idx] = F.normalize(old * self.momentum + feats * (1 - self.momentum), dim=1)
        self.labels[idx] = y

    def knn(self, q, k=3):
        sim = q @ self.feats.t()
        val, ind = sim.topk(k, 1)
        return self.labels[ind].mode(1).values


def nce(q, bank, idx, negs=8, T=0.2):
    neg = torch.randint(0, len(bank.feats), (len(q), negs))
    pos = (q * bank.feats[idx]).sum(1, keepdim=True)
    n = torch.einsum("bd,bnd->bn", q, bank.feats[neg])
    logits = torch.cat((pos, n), 1) / T
    return F.cross_entropy(logits, torch.zeros(len(q), dtype=torch.int64, device=q.device))


dev = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
X = torch.randn(40, 6)
Y = (X[:, 0] > 0).long()
enc = nn.Linear(6, 4).to(dev)
bank = Bank(40, 4)
opt = torch.optim.SGD(enc.parameters(), 0.1)
for ep in range(2):
    for idx in torch.randperm(40).split(10):
        x = X[idx].to(dev)
        q = F.normalize(enc(x), dim=1)
        loss = nce(q, bank, idx)
        opt.zero_grad()
        loss.backward()
        opt.step()
        bank.update(idx, q.detach(), Y[idx])
print("%.2f" % loss.item())
pred = bank.knn(F.normalize(enc(X.to(dev)), dim=1))
print((pred.cpu() == Y).float().mean().item() > 0.3)
