import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
policy = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2), nn.Softmax(-1)).to(device)
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
log_probs, rewards = [], []
for t in range(6):
    dist = Categorical(policy(torch.ones(4, device=device) * t))
    action = dist.sample()
    log_probs.append(dist.log_prob(action))
    rewards.append(1.0)
returns, running = [], 0.0
for r in reversed(rewards):
    running = r + 0.9 * running
    returns.insert(0, running)
returns = torch.tensor(returns)
returns = (returns - returns.mean()) / (returns.std() + 1e-6)
loss = -(torch.stack(log_probs) * returns).sum()
optimizer.zero_grad()
loss.backward()
optimizer.step()
print(len(rewards), tuple(loss.shape))
