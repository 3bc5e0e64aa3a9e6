import math

import torch
from torch import nn


class Event(list):
    def fire(self, *args):
        for listener in self:
            listener(*args)


class VAE(nn.Module):
    def __init__(self, d=8, z=2):
        super().__init__()
        self.enc, self.mu, self.lv = nn.Linear(d, 16), nn.Linear(16, z), nn.Linear(16, z)
        self.dec = nn.Sequential(nn.Linear(z, 16), nn.ReLU(), nn.Linear(16, d))
        self.z = z

    def forward(self, x):
        h = torch.relu(self.enc(x))
        mu, lv = self.mu(h), self.lv(h)
        z = mu + torch.randn(mu.shape) * (0.5 * lv).exp()
        return self.dec(z), mu, lv

    def generate(self, n):
        return self.dec(torch.randn(n, self.z))


class Fit:
    def __init__(self, model):
        self.model, self.step_done, self.epoch_done = model, Event(), Event()
        self.beta = 0.0

    def __call__(self, data, epochs):
        opt = torch.optim.Adam(self.model.parameters(), 1e-2)
        for epoch in range(epochs):
            for x in data:
                out, mu, lv = self.model(x)
                rec = (out - x).pow(2).sum(1)
                kl = -0.5 * (1 + lv - mu.pow(2) - lv.exp()).sum(1)
                loss = (rec + self.beta * kl).mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
                self.step_done.fire(rec.detach(), kl.detach())
            self.epoch_done.fire(epoch)


torch.manual_seed(0)
log = []
fit = Fit(VAE())
fit.step_done.append(lambda rec, kl: log.append(torch.stack([rec.mean(), kl.mean()])))
fit.epoch_done.append(lambda e: setattr(fit, "beta", 1 / (1 + math.exp(-e))))
fit([torch.randn(16, 8) for _ in range(3)], 3)
curve = torch.stack(log)
print(curve.shape, curve.numpy().mean() > 0, fit.model.generate(3).shape)
