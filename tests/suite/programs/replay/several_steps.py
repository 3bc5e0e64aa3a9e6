import random
from collections import deque, namedtuple

import numpy as np
import torch
from torch import nn

Step = namedtuple("Step", "obs action reward nxt done")


class Chain:
    def __init__(self, n=6):
        self.n = n

    def reset(self):
        self.pos = 0
        return self._obs()

    def _obs(self):
        return np.eye(self.n, dtype=np.float32)[self.pos]

    def step(self, action):
        self.pos = min(self.n - 1, self.pos + 1) if action else max(0, self.pos - 1)
        done = self.pos == self.n - 1
        return self._obs(), float(done), done


class NStep:
    def __init__(self, size, n, gamma):
        self.store, self.recent, self.n, self.gamma = deque(maxlen=size), deque(maxlen=n), n, gamma

    def push(self, step):
        self.recent.append(step)
        if len(self.recent) == self.n or step.done:
            ret = sum(s.reward * self.gamma ** i for i, s in enumerate(self.recent))
            first = self.recent[0]
            self.store.append(Step(first.obs, first.action, ret, step.nxt, step.done))

    def sample(self, k):
        batch = Step(*zip(*random.sample(self.store, k)))
        return (torch.as_tensor(np.stack(batch.obs)), torch.as_tensor(batch.action),
                torch.as_tensor(batch.reward, dtype=torch.float32),
                torch.as_tensor(np.stack(batch.nxt)), torch.as_tensor(batch.done).float())


random.seed(0)
torch.manual_seed(0)
env, memory = Chain(), NStep(200, 3, 0.9)
q, target = nn.Linear(6, 2), nn.Linear(6, 2)
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), 0.05)
for episode in range(6):
    obs, done, t = env.reset(), False, 0
    while not done and t < 20:
        if random.random() < 0.5:
            action = random.randrange(2)
        else:
            with torch.no_grad():
                action = q(torch.from_numpy(obs)).argmax().item()
        nxt, reward, done = env.step(action)
        memory.push(Step(obs, action, reward, nxt, done))
        obs, t = nxt, t + 1
        if len(memory.store) >= 8:
            o, a, r, n, d = memory.sample(8)
            with torch.no_grad():
                goal = r + 0.9 ** 3 * (1 - d) * target(n).max(1).values
            loss = nn.functional.mse_loss(q(o).gather(1, a[:, None]).squeeze(1), goal)
            opt.zero_grad()
            loss.backward()
            opt.step()
    target.load_state_dict(q.state_dict())
print(len(memory.store) > 0, bool(loss >= 0))
