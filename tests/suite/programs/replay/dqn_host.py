import random

import torch
from torch import nn
import torch.nn.functional as F

random.seed(1)
torch.manual_seed(1)
policy, target = nn.Linear(3, 2), nn.Linear(3, 2)
target.load_state_dict(policy.state_dict())
optimizer = torch.optim.RMSprop(policy.parameters())
memory = []
state = torch.zeros(1, 3)
for t in range(12):
    if random.random() < 0.3:
        action = torch.tensor([[random.randrange(2)]], dtype=torch.long)
    else:
        with torch.no_grad():
            action = policy(state).max(1)[1].view(1, 1)
    following = state + torch.randn(1, 3)
    reward = torch.tensor([1.0 if action.item() else -1.0])
    memory.append((state, action, following, reward))
    state = following
    if len(memory) < 6:
        continue
    s, a, n, r = (torch.cat(column) for column in zip(*random.sample(memory, 6)))
    expected = r + 0.9 * target(n).max(1)[0].detach()
    loss = F.smooth_l1_loss(policy(s).gather(1, a).squeeze(1), expected)
    optimizer.zero_grad()
    loss.backward()
    for p in policy.parameters():
        p.grad.data.clamp_(-1, 1)
    optimizer.step()
print(f"{loss.item():.4f}")
