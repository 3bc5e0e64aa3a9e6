"""Deep Q-learning on a toy world, with a replay memory and a target network."""

import random
from collections import deque, namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
device = torch.device(
    "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
)
Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))


class World:
    def reset(self):
        self.state, self.t = np.random.uniform(-1, 1, 4).astype(np.float32), 0
        return self.state, {}

    def step(self, action):
        self.t += 1
        self.state = np.clip(self.state + (0.1 if action else -0.1), -1, 1).astype(np.float32)
        return self.state, float(-abs(self.state.sum())), self.t >= 12, False, {}


class DQN(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1, self.layer2, self.layer3 = (
            nn.Linear(4, 16),
            nn.Linear(16, 16),
            nn.Linear(16, 2),
        )

    def forward(self, x):
        return self.layer3(F.relu(self.layer2(F.relu(self.layer1(x)))))


policy, target = DQN().to(device), DQN().to(device)
target.load_state_dict(policy.state_dict())
optimizer = optim.AdamW(policy.parameters(), lr=1e-3, amsgrad=True)
memory, env = deque([], maxlen=200), World()


def select(state, steps):
    if random.random() > 0.5:
        with torch.no_grad():
            return policy(state).max(1).indices.view(1, 1)
    return torch.tensor([[random.randrange(2)]], device=device, dtype=torch.long)


def optimize():
    if len(memory) < 16:
        return None
    batch = Transition(*zip(*random.sample(memory, 16)))
    mask = torch.tensor(
        tuple(s is not None for s in batch.next_state), device=device, dtype=torch.bool
    )
    following = torch.cat([s for s in batch.next_state if s is not None])
    states, actions, rewards = (
        torch.cat(batch.state),
        torch.cat(batch.action),
        torch.cat(batch.reward),
    )
    values = policy(states).gather(1, actions)
    next_values = torch.zeros(16, device=device)
    with torch.no_grad():
        next_values[mask] = target(following).max(1).values
    loss = nn.SmoothL1Loss()(values, (next_values * 0.9 + rewards).unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy.parameters(), 100)
    optimizer.step()
    return loss.item()


for episode in range(4):
    state, _ = env.reset()
    state = torch.tensor(state, dtype=torch.float32, device=device).unsqueeze(0)
    done, loss = False, None
    while not done:
        action = select(state, episode)
        observation, reward, done, _, _ = env.step(action.item())
        reward = torch.tensor([reward], device=device)
        following = None if done else torch.tensor(observation, device=device).unsqueeze(0)
        memory.append(Transition(state, action, following, reward))
        state = following
        loss = optimize()
        weights = target.state_dict()
        for key, value in policy.state_dict().items():
            weights[key] = value * 0.05 + weights[key] * 0.95
        target.load_state_dict(weights)
    print(episode, repr(loss))
