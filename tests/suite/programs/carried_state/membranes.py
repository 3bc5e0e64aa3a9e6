import torch
import torch.nn as nn


class Surrogate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, u):
        ctx.save_for_backward(u)
        return (u > 0).float()

    @staticmethod
    def backward(ctx, g):
        u, = ctx.saved_tensors
        return g / (1 + 10 * u.abs()) ** 2


class LIF(nn.Module):
    def __init__(self, n, beta=0.9, thr=1.0):
        super().__init__()
        self.n = n
        self.beta = torch.tensor(beta)
        self.thr = torch.full((n,), thr)
        self.mem = None

    def reset(self):
        self.mem = torch.zeros(self.n)

    def forward(self, x):
        if self.mem is None:
            self.reset()
        self.mem = self.beta * self.mem + x
        spk = Surrogate.apply(self.mem - self.thr)
        self.mem = self.mem - spk * self.thr
        return spk


class SNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.lif1 = nn.Linear(6, 10), LIF(10)
        self.fc2, self.lif2 = nn.Linear(10, 3), LIF(3)

    def forward(self, x, steps):
        for m in self.modules():
            if isinstance(m, LIF):
                m.reset()
        spikes = torch.zeros(x.size(0), 3)
        for _ in range(steps):
            spikes = spikes + self.lif2(self.fc2(self.lif1(self.fc1(x))))
        return spikes / steps


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = SNN().to(device)
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
x, y = torch.rand(12, 6) * 2, torch.arange(12) % 3
for epoch in range(3):
    out = net(x.to(device), steps=5)
    loss = nn.functional.cross_entropy(out, y.to(device))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(epoch, "%.4f" % loss.item())
