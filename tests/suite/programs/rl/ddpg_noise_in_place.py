import copy
import random
from collections import deque, namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

Experience = namedtuple("Experience", "state action reward next_state done")


class Actor(nn.Module):
    def __init__(self, s, a):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(s, 16), nn.ReLU(), nn.Linear(16, a), nn.Tanh())

    def forward(self, s):
        return self.net(s)


class Critic(nn.Module):
    def __init__(self, s, a):
        super().__init__()
        self.fc1 = nn.Linear(s, 16)
        self.fc2 = nn.Linear(16 + a, 1)

    def forward(self, s, a):
        return self.fc2(torch.cat((F.relu(self.fc1(s)), a), dim=1))


class ReplayBuffer:
    def __init__(self, size, batch_size, seed):
        self.memory = deque(maxlen=size)
        self.batch_size = batch_size
        random.seed(seed)

    def add(self, *args):
        self.memory.append(Experience(*args))

    def sample(self):
        exps = random.sample(self.memory, k=self.batch_size)
        states = torch.from_numpy(np.vstack([e.state for e in exps])).float()
        actions = torch.from_numpy(np.vstack([e.action for e in exps])).float()
        rewards = torch.from_numpy(np.vstack([e.reward for e in exps])).float()
        next_states = torch.from_numpy(np.vstack([e.next_state for e in exps])).float()
        dones = torch.from_numpy(np.vstack([e.done for e in exps]).astype(np.uint8)).float()
        return states, actions, rewards, next_states, dones

    def __len__(self):
        return len(self.memory)


class Agent:
    def __init__(self, s, a, seed=0):
        self.actor_local, self.actor_target = Actor(s, a), Actor(s, a)
        self.critic_local = Critic(s, a)
        self.critic_target = copy.deepcopy(self.critic_local)
        self.actor_opt = torch.optim.Adam(self.actor_local.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic_local.parameters(), lr=1e-3)
        self.memory = ReplayBuffer(1000, 16, seed)

    def act(self, state, noise=0.1):
        state = torch.from_numpy(state).float()
        self.actor_local.eval()
        with torch.no_grad():
            action = self.actor_local(state).numpy()
        self.actor_local.train()
        action += noise * np.random.standard_normal(action.shape)
        return np.clip(action, -1, 1)

    def step(self, *transition):
        self.memory.add(*transition)
        if len(self.memory) > 16:
            return self.learn(self.memory.sample())

    def learn(self, experiences, gamma=0.99):
        s, a, r, s2, d = experiences
        with torch.no_grad():
            q_next = self.critic_target(s2, self.actor_target(s2))
            target = r + gamma * q_next * (1 - d)
        critic_loss = F.mse_loss(self.critic_local(s, a), target)
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()
        actor_loss = -self.critic_local(s, self.actor_local(s)).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()
        self.soft_update(self.critic_local, self.critic_target, 0.01)
        self.soft_update(self.actor_local, self.actor_target, 0.01)
        return critic_loss.item()

    @staticmethod
    def soft_update(local, target, tau):
        for tp, lp in zip(target.parameters(), local.parameters()):
            tp.data.copy_(tau * lp.data + (1.0 - tau) * tp.data)


if __name__ == "__main__":
    torch.manual_seed(0)
    np.random.seed(0)
    agent = Agent(3, 1)
    state = np.zeros(3)
    total = 0.0
    for t in range(60):
        action = agent.act(state)
        nxt = np.tanh(state + 0.1 * action + 0.05 * np.random.randn(3))
        reward = -float((nxt ** 2).sum())
        loss = agent.step(state, action, reward, nxt, t % 20 == 19)
        state, total = nxt, total + reward
    print(f"{total:.4f} {loss:.5f}")
