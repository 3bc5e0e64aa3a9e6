import torch
from torch import nn
from torch.nn import functional as F


class HyperNetwork(nn.Module):
    def __init__(self, z_dim, sizes):
        super().__init__()
        self.sizes = sizes
        n = sum(i * o + o for i, o in zip(sizes, sizes[1:]))
        self.net = nn.Sequential(nn.Linear(z_dim, 16), nn.ReLU(), nn.Linear(16, n))

    def forward(self, z):
        flat = self.net(z)
        params, at = [], 0
        for i, o in zip(self.sizes, self.sizes[1:]):
            w = flat[at:at + i * o].view(o, i)
            at += i * o
            b = flat[at:at + o]
            at += o
            params.append((w, b))
        return params


def target_forward(params, x):
    for k, (w, b) in enumerate(params):
        x = F.linear(x, w, b)
        if k < len(params) - 1:
            x = torch.tanh(x)
    return x


class ContextEncoder(nn.Module):
    def __init__(self, z_dim):
        super().__init__()
        self.phi = nn.Linear(2, 8)
        self.rho = nn.Linear(8, z_dim)

    def forward(self, xs, ys):
        return self.rho(torch.relu(self.phi(torch.cat([xs, ys], -1))).mean(0))


class SineTask:
    def __init__(self):
        self.amp = torch.empty(1).uniform_(0.5, 2.0)
        self.phase = torch.empty(1).uniform_(0.0, 3.0)

    def sample(self, n):
        x = torch.empty(n, 1).uniform_(-3, 3)
        return x, self.amp * torch.sin(x + self.phase)


torch.manual_seed(4)
hyper = HyperNetwork(4, [1, 8, 1])
encoder = ContextEncoder(4)
opt = torch.optim.Adam(list(hyper.parameters()) + list(encoder.parameters()), lr=5e-3)
history = []
for it in range(6):
    losses = []
    for _ in range(3):
        task = SineTask()
        cx, cy = task.sample(5)
        qx, qy = task.sample(10)
        params = hyper(encoder(cx, cy))
        losses.append(F.mse_loss(target_forward(params, qx), qy))
    loss = torch.stack(losses).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    history.append(loss.detach())
print(["%.3f" % h for h in torch.stack(history).tolist()])
