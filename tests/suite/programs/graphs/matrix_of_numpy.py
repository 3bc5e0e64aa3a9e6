import numpy as np
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Conv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.lin = nn.Linear(i, o)

    def forward(self, x, adj):
        return torch.relu(adj @ self.lin(x))


def normalized(edges, n):
    a = np.eye(n, dtype=np.float32)
    a[edges[0], edges[1]] = a[edges[1], edges[0]] = 1
    d = a.sum(1) ** -0.5
    return torch.from_numpy(d[:, None] * a * d[None])


np.random.seed(0)
torch.manual_seed(0)
n = 12
adj = normalized(np.random.randint(0, n, (2, 20)), n)
feats = torch.from_numpy(np.random.randn(n, 5).astype(np.float32)).to(device)
labels = torch.from_numpy(np.random.randint(0, 2, n)).to(device)
train_idx = torch.from_numpy(np.random.permutation(n)[:8])
net = nn.ModuleList([Conv(5, 8), Conv(8, 2)]).to(device)
opt = torch.optim.Adam(net.parameters(), 0.01)
for _ in range(3):
    h = feats
    for conv in net:
        h = conv(h, adj)
    loss = nn.functional.cross_entropy(h[train_idx], labels[train_idx])
    opt.zero_grad()
    loss.backward()
    opt.step()
print(bool(loss > 0))
