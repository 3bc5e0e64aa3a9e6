import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
points = torch.linspace(0, 1, 20).unsqueeze(1).requires_grad_(True)
zero = torch.zeros(1, 1)
optimizer = torch.optim.LBFGS(net.parameters(), max_iter=8)


def residual():
    u = net(points)
    du = torch.autograd.grad(u, points, torch.ones_like(u), create_graph=True)[0]
    return (du + u).pow(2).mean() + (net(zero) - 1).pow(2).mean()


def closure():
    optimizer.zero_grad()
    loss = residual()
    loss.backward()
    return loss


optimizer.step(closure)
print(f"{residual().item() < 1.0}", points.shape[0])
