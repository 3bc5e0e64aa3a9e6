import numpy as np
import torch
from torch import nn


class Replay:
    def __init__(self, size, dim, device):
        self.state = np.zeros((size, dim), np.float32)
        self.reward = np.zeros((size, 1), np.float32)
        self.device, self.n = device, 0

    def push(self, state, reward):
        self.state[self.n], self.reward[self.n] = state, reward
        self.n += 1

    def sample(self, rows):
        return tuple(torch.as_tensor(a[rows], device=self.device) for a in (self.state, self.reward))


rng = np.random.default_rng(0)
torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
value = nn.Linear(4, 1).to(device)
replay = Replay(50, 4, device)
for _ in range(20):
    replay.push(rng.standard_normal(4), rng.standard_normal())
states, rewards = replay.sample(np.arange(0, 20, 3))
print(f"{nn.functional.mse_loss(value(states), rewards).item():.4f}")
