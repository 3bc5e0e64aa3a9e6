import torch
from torch import nn


def nt_xent(a, b, temperature=0.5):
    z = nn.functional.normalize(torch.cat([a, b]), dim=1)
    sim = z @ z.t() / temperature
    sim = sim.masked_fill(torch.eye(len(z), dtype=torch.bool), float("-inf"))
    n = len(a)
    target = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return nn.functional.cross_entropy(sim, target)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(5, 3).to(device)
x = torch.randn(4, 5, device=device)
print(f"{nt_xent(net(x), net(x + 0.1)).item():.4f}")
