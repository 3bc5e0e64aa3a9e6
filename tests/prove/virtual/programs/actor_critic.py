"""Policy gradients with distributions, generalized advantages and running statistics in NumPy."""

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical, Normal

np.random.seed(7)
torch.manual_seed(7)
device = torch.device("cuda:0") if torch.cuda.is_available() else torch.device("cpu")
actor = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 4)).to(device)
mean = nn.Linear(3, 2).to(device)
log_std = nn.Parameter(torch.zeros(2, device=device))
critic = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1)).to(device)
optimizer = torch.optim.Adam(
    [*actor.parameters(), *critic.parameters(), *mean.parameters(), log_std], 3e-3, eps=1e-5
)
observation = np.zeros(3, dtype=np.float32)
for update in range(3):
    rows = []
    for _ in range(8):
        state = torch.from_numpy(observation).float().unsqueeze(0).to(device)
        with torch.no_grad():
            dist = Categorical(logits=actor(state))
            action = dist.sample()
            push = Normal(mean(state), log_std.exp()).sample()
            value = critic(state)
        observation = (
            observation * 0.9 + push.cpu().numpy()[0].sum() * 0.1 + action.item() * 0.05
        ).astype(np.float32)
        rows.append(
            (state, action, push, dist.log_prob(action), float(-np.abs(observation).sum()), value)
        )
    states, actions, pushes = (torch.cat([row[k] for row in rows]) for k in range(3))
    old = torch.cat([row[3] for row in rows])
    returns, running = [], 0.0
    for row in reversed(rows):
        running = row[4] + 0.99 * running
        returns.insert(0, running)
    returns = torch.tensor(returns, device=device)
    advantage = returns - torch.cat([row[5] for row in rows]).squeeze(1)
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    for _ in range(2):
        order = torch.randperm(8).to(device)
        dist = Categorical(logits=actor(states[order]))
        ratio = (dist.log_prob(actions[order]) - old[order]).exp()
        policy = -torch.min(
            ratio * advantage[order], ratio.clamp(0.8, 1.2) * advantage[order]
        ).mean()
        policy = (
            policy
            - 0.01 * Normal(mean(states[order]), log_std.exp()).log_prob(pushes[order]).mean()
        )
        loss = (
            policy
            + 0.5 * (critic(states[order]).squeeze() - returns[order]).pow(2).mean()
            - 0.01 * dist.entropy().mean()
        )
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_([*actor.parameters(), *critic.parameters()], 0.5)
        optimizer.step()
    print(update, repr(loss.item()), np.round(returns.cpu().numpy().mean(), 4))
