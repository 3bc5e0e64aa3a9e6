import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
edges = torch.tensor([[0, 1, 2], [1, 2, 0]], device=device)
adj = torch.zeros(3, 3, device=device).index_put_((edges[0], edges[1]), torch.ones(3, device=device))
adj = (adj + adj.T + torch.eye(3, device=adj.device)).clamp(max=1)
net = nn.Linear(2, 2).to(device)
x = torch.ones(3, 2).to(adj)
print(f"{(adj @ net(x)).sum().item():.4f}")
