import torch
from torch import nn


class GCN(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.w = nn.Linear(3, 2)
        self.register_buffer("adj", torch.eye(n), persistent=False)

    def set_graph(self, edges):
        a = torch.zeros_like(self.adj)
        a[edges[0], edges[1]] = 1
        a = a + a.T + torch.eye(len(a), out=torch.empty_like(a))
        d = a.sum(1).rsqrt()
        self.adj = d[:, None] * a * d

    def forward(self, x):
        return self.adj @ self.w(x)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = GCN(4).to(device)
net.set_graph(torch.tensor([[0, 1, 2], [1, 2, 3]]))
print(net(torch.ones(4, 3, device=device)).shape)
