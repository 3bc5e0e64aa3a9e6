from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader


@dataclass
class Graph:
    x: torch.Tensor
    edges: torch.Tensor
    y: torch.Tensor


@dataclass
class Batch:
    x: torch.Tensor
    edges: torch.Tensor
    owner: torch.Tensor
    y: torch.Tensor
    size: int


def collate(graphs):
    offset, edges, owner = 0, [], []
    for i, g in enumerate(graphs):
        edges.append(g.edges + offset)
        owner.append(torch.full((len(g.x),), i))
        offset += len(g.x)
    return Batch(torch.cat([g.x for g in graphs]), torch.cat(edges, dim=1), torch.cat(owner),
                 torch.stack([g.y for g in graphs]), len(graphs))


class GIN(nn.Module):
    def __init__(self):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 8))
        self.out = nn.Linear(8, 1)

    def forward(self, batch):
        src, dst = batch.edges
        agg = torch.zeros_like(batch.x).index_add(0, dst, batch.x[src])
        h = self.mlp(batch.x + agg)
        pooled = torch.zeros(batch.size, h.size(1)).index_add_(0, batch.owner, h)
        return self.out(pooled).squeeze(-1)


torch.manual_seed(0)
graphs = []
for n in (3, 4, 5, 4, 3, 6):
    ring = torch.arange(n)
    graphs.append(Graph(torch.randn(n, 3), torch.stack([ring, ring.roll(1)]), torch.tensor(float(n))))
model = GIN()
opt = torch.optim.Adam(model.parameters(), 0.01)
for epoch in range(4):
    for batch in DataLoader(graphs, batch_size=3, collate_fn=collate):
        loss = nn.functional.smooth_l1_loss(model(batch), batch.y)
        opt.zero_grad()
        loss.backward()
        opt.step()
print(bool(loss < 10))
