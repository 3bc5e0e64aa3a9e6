import random

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Buffer:
    def __init__(self, size, dim):
        self.obs = torch.zeros(size, dim)
        self.act = torch.zeros(size, dtype=torch.long)
        self.rew = torch.zeros(size)
        self.priority = torch.zeros(size)
        self.at = self.full = 0

    def add(self, obs, act, rew):
        i = self.at
        self.obs[i], self.act[i], self.rew[i] = obs, act, rew
        self.priority[i] = 1.0
        self.at = (i + 1) % len(self.obs)
        self.full = max(self.full, i + 1)

    def sample(self, n):
        probs = self.priority[:self.full] / self.priority[:self.full].sum()
        idx = torch.multinomial(probs, n, replacement=True)
        weights = (self.full * probs[idx]) ** -0.5
        return idx, self.obs[idx], self.act[idx], self.rew[idx], weights / weights.max()

    def update(self, idx, errors):
        self.priority[idx] = errors.abs() + 1e-3


random.seed(0)
torch.manual_seed(0)
q = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2)).to(device)
opt = torch.optim.Adam(q.parameters(), 0.01)
buffer = Buffer(32, 3)
for i in range(20):
    buffer.add(torch.randn(3), random.randrange(2), random.random())
for _ in range(3):
    idx, obs, act, rew, w = buffer.sample(8)
    picked = q(obs.to(device)).gather(1, act[:, None]).squeeze(1)
    error = rew - picked
    loss = (w * error.pow(2)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    buffer.update(idx, error.detach())
print(buffer.full, bool(loss >= 0))
