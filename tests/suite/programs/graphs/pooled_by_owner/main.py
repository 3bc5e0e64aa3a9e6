import random

import torch
from torch import nn
from torch.utils.data import DataLoader

from data import merge, random_graph


class GIN(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(1))
        self.inp = nn.Linear(4, d)
        self.mlp = nn.Sequential(nn.Linear(d, d), nn.ReLU())
        self.out = nn.Linear(d, 2)

    def forward(self, x, edges, batch, n):
        h = self.inp(x)
        for _ in range(2):
            agg = torch.zeros_like(h).index_add(0, edges[1], h[edges[0]])
            h = self.mlp((1 + self.eps) * h + agg)
        size = torch.zeros(n).index_add_(0, batch, torch.ones(len(batch)))
        pooled = torch.zeros(n, h.size(1), device=h.device).index_add_(0, batch, h)
        return self.out(pooled / size[:, None])


def main():
    random.seed(0)
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = DataLoader([random_graph() for _ in range(24)], batch_size=8, shuffle=True, collate_fn=merge)
    net = GIN().to(device)
    opt = torch.optim.Adam(net.parameters(), 1e-2)
    for epoch in range(2):
        correct = 0
        for g in loader:
            logits = net(g.x.to(device), g.edges.to(device), g.batch.to(device), g.num_graphs)
            loss = nn.functional.cross_entropy(logits, g.y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            correct += (logits.argmax(1) == g.y).sum().item()
        print(epoch, correct <= 24)


main()
