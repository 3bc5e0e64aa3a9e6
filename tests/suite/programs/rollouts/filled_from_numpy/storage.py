import torch


class Storage:
    def __init__(self, T, n, d, device):
        z = dict(device=device)
        self.obs = torch.zeros(T + 1, n, d, **z)
        self.act = torch.zeros(T, n, dtype=torch.long, **z)
        self.rew = torch.zeros(T, n, **z)
        self.t = 0

    def insert(self, obs, act, rew):
        self.obs[self.t + 1].copy_(obs)
        self.act[self.t].copy_(act)
        self.rew[self.t].copy_(rew)
        self.t += 1

    def after_update(self):
        self.obs[0].copy_(self.obs[-1])
        self.t = 0

    def feed(self, k):
        n = self.act.numel()
        for idx in torch.randperm(n).split(k):
            yield self.obs[:-1].flatten(0, 1)[idx], self.act.flatten()[idx], self.returns.flatten()[idx]

    def compute(self, last, gamma):
        self.returns = torch.zeros_like(self.rew)
        for i in reversed(range(self.rew.size(0))):
            last = self.rew[i] + gamma * last
            self.returns[i] = last
