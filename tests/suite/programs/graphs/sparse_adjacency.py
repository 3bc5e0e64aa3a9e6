import torch
from torch import nn


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 8), nn.Linear(8, 2)

    def forward(self, x, adj):
        return torch.sparse.mm(adj, self.b(torch.sparse.mm(adj, self.a(x)).relu()))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
edges = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
adj = torch.sparse_coo_tensor(edges, torch.ones(4), (4, 4))
net = GCN().to(device)
x = torch.randn(4, 4, device=device)
print(f"{net(x, adj).sum().item():.4f}")
