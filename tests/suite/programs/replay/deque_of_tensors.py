import random
from collections import deque

import torch
from torch import nn


class Replay:
    def __init__(self, size):
        self.items = deque(maxlen=size)

    def push(self, *item):
        self.items.append(item)

    def sample(self, n):
        columns = zip(*random.sample(self.items, n))
        return [torch.stack(column) for column in columns]


random.seed(0)
torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
q = nn.Linear(4, 2).to(device)
replay = Replay(50)
for _ in range(20):
    replay.push(torch.randn(4), torch.randint(2, (1,)), torch.randn(1))
states, actions, rewards = replay.sample(8)
loss = nn.functional.smooth_l1_loss(q(states).gather(1, actions), rewards)
print(f"{loss.item():.4f}")
