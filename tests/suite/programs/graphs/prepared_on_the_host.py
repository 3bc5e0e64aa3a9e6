import numpy as np
import torch
from torch import nn


def power_iteration(adj, n=5):
    """Runs once, in double precision, on the host."""
    v = torch.ones(adj.shape[0], dtype=torch.float64)
    for _ in range(n):
        v = torch.mv(adj, v)
        v = v / v.norm()
    return v


def laplacian_pe(adj, k):
    deg = adj.sum(1)
    lap = torch.diag(deg) - adj
    vals, vecs = torch.linalg.eigh(lap)
    return vecs[:, 1:k + 1]


def preprocess(n, seed):
    rng = np.random.RandomState(seed)
    a = (rng.rand(n, n) < 0.4).astype(np.float64)
    a = np.maximum(a, a.T)
    np.fill_diagonal(a, 1)
    adj = torch.from_numpy(a)
    pe = laplacian_pe(adj, 3).float().abs()
    cent = power_iteration(adj).float()
    return (adj / adj.sum(1, keepdim=True)).float(), torch.cat([pe, cent.unsqueeze(1)], 1)


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
adj, feats = preprocess(8, 0)
y = (feats[:, -1] > feats[:, -1].median()).long()
adj, feats, y = (t.to(device) for t in (adj, feats, y))
model = nn.Linear(4, 2).to(device)
opt = torch.optim.Adam(model.parameters(), 0.05)
for i in range(3):
    loss = nn.functional.cross_entropy(adj @ model(feats), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(i, "%.3f" % loss.item())
