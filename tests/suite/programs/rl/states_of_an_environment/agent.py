import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class QNet(nn.Module):
    def __init__(self, n_state, n_action):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_state, 16), nn.ReLU(), nn.Linear(16, n_action))

    def forward(self, s):
        return self.net(s)


class DQNAgent:
    def __init__(self, n_state, n_action, device):
        self.device = device
        self.n_action = n_action
        self.q = QNet(n_state, n_action).to(device)
        self.target = QNet(n_state, n_action).to(device)
        self.target.load_state_dict(self.q.state_dict())
        self.opt = torch.optim.Adam(self.q.parameters(), lr=1e-2)
        self.buffer = deque(maxlen=200)
        self.support = torch.linspace(0, 1, n_action)

    def act(self, state, eps):
        if random.random() < eps:
            return random.randrange(self.n_action)
        s = torch.as_tensor(state, dtype=torch.float32)
        return (self.q(s.unsqueeze(0)) + 0.01 * self.support).argmax(1).item()

    def push(self, *t):
        self.buffer.append(t)

    def learn(self, bs):
        s, a, r, ns, d = zip(*random.sample(self.buffer, bs))
        s = torch.tensor(np.array(s), dtype=torch.float32, device=self.device)
        ns = torch.tensor(np.array(ns), dtype=torch.float32, device=self.device)
        a = torch.tensor(a).unsqueeze(1)
        r = torch.tensor(r, dtype=torch.float32)
        d = torch.tensor(d, dtype=torch.float32)
        q = self.q(s).gather(1, a).squeeze(1)
        with torch.no_grad():
            y = r + 0.99 * self.target(ns).max(1)[0] * (1 - d)
        loss = F.smooth_l1_loss(q, y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()
