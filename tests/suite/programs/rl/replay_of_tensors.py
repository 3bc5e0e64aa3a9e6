import collections
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class GridEnv:
    def __init__(self):
        self.action_space = 3

    def reset(self):
        self.t = 0
        self.s = np.zeros(5, dtype=np.float32)
        return self.s.copy()

    def step(self, a):
        self.t += 1
        self.s[self.t % 5] += a - 1
        return self.s.copy(), float(self.s.sum() > 0), self.t >= 8, {}


class FrameStack:
    def __init__(self, env, k):
        self.env, self.k = env, k
        self.frames = collections.deque(maxlen=k)

    def reset(self):
        s = self.env.reset()
        for _ in range(self.k):
            self.frames.append(s)
        return np.concatenate(self.frames)

    def step(self, a):
        s, r, d, info = self.env.step(a)
        self.frames.append(s)
        return np.concatenate(self.frames), r, d, info


Transition = collections.namedtuple("Transition", ("state", "action", "next_state", "reward"))


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = collections.deque([], maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, n):
        return random.sample(self.memory, n)

    def __len__(self):
        return len(self.memory)


class Dueling(nn.Module):
    def __init__(self, n, a):
        super().__init__()
        self.body = nn.Linear(n, 16)
        self.v, self.a = nn.Linear(16, 1), nn.Linear(16, a)

    def forward(self, x):
        h = F.relu(self.body(x))
        a = self.a(h)
        return self.v(h) + a - a.mean(1, keepdim=True)


random.seed(0)
torch.manual_seed(0)
policy_net, target_net = Dueling(10, 3), Dueling(10, 3)
for m in policy_net.modules():
    if isinstance(m, nn.Linear):
        nn.init.orthogonal_(m.weight)
target_net.load_state_dict(policy_net.state_dict())
optimizer = torch.optim.AdamW(policy_net.parameters(), lr=1e-3, amsgrad=True)
memory = ReplayMemory(100)
env = FrameStack(GridEnv(), 2)
steps_done = 0


def select_action(state):
    global steps_done
    steps_done += 1
    if random.random() > 0.3:
        with torch.no_grad():
            return policy_net(state).max(1).indices.view(1, 1)
    return torch.tensor([[random.randrange(3)]], dtype=torch.long)


def optimize(bs=6, gamma=0.9):
    if len(memory) < bs:
        return None
    batch = Transition(*zip(*memory.sample(bs)))
    non_final_mask = torch.tensor(tuple(map(lambda s: s is not None, batch.next_state)), dtype=torch.bool)
    non_final_next_states = torch.cat([s for s in batch.next_state if s is not None])
    state_batch = torch.cat(batch.state)
    action_batch = torch.cat(batch.action)
    reward_batch = torch.cat(batch.reward)
    q = policy_net(state_batch).gather(1, action_batch)
    next_values = torch.zeros(bs)
    with torch.no_grad():
        next_values[non_final_mask] = target_net(non_final_next_states).max(1).values
    expected = next_values * gamma + reward_batch
    loss = nn.SmoothL1Loss()(q, expected.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    return loss.item()


for ep in range(2):
    state = torch.tensor(env.reset(), dtype=torch.float32).unsqueeze(0)
    while True:
        action = select_action(state)
        obs, reward, done, _ = env.step(action.item())
        reward = torch.tensor([reward])
        next_state = None if done else torch.tensor(obs, dtype=torch.float32).unsqueeze(0)
        memory.push(state, action, next_state, reward)
        state = next_state
        loss = optimize()
        sd, td = policy_net.state_dict(), target_net.state_dict()
        for k in sd:
            td[k] = sd[k] * 0.05 + td[k] * 0.95
        target_net.load_state_dict(td)
        if done:
            break
    print(ep, loss if loss is None else "%.4f" % loss)
