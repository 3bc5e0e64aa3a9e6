import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
history = []
for episode in range(4):
    obs = torch.randn(8, 4)
    dist = Categorical(logits=policy(obs))
    action = dist.sample()
    reward = (action == 1).float()
    loss = -(dist.log_prob(action) * reward).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(dist.probs.detach().numpy().mean(axis=0))
print(np.round(np.stack(history).sum(), 3))
