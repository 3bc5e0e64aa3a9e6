import torch
from torch import nn


class Rollout:
    def __init__(self, steps, obs_dim):
        self.obs = torch.zeros(steps, obs_dim)
        self.returns = torch.zeros(steps)
        self.i = 0

    def add(self, obs, ret):
        self.obs[self.i].copy_(obs)
        self.returns[self.i] = ret
        self.i += 1

    def batches(self, size):
        for start in range(0, self.i, size):
            yield self.obs[start : start + size], self.returns[start : start + size]


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
critic = nn.Linear(3, 1).to(device)
rollout = Rollout(8, 3)
for t in range(8):
    rollout.add(torch.randn(3, device=device), float(t))
for obs, ret in rollout.batches(4):
    print(f"{(critic(obs).squeeze(-1) - ret).pow(2).mean().item():.4f}")
