import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine = nn.Linear(4, 12)
        self.action, self.value = nn.Linear(12, 2), nn.Linear(12, 1)
        self.saved, self.rewards = [], []

    def forward(self, x):
        h = torch.relu(self.affine(x))
        return self.action(h).softmax(-1), self.value(h)


torch.manual_seed(0)
rng = np.random.default_rng(0)
model = Policy()
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)


def select_action(state):
    state = torch.from_numpy(state).float()
    probs, value = model(state)
    m = Categorical(probs)
    action = m.sample()
    model.saved.append((m.log_prob(action), value))
    return action.item()


for episode in range(2):
    for t in range(5):
        action = select_action(rng.standard_normal(4))
        model.rewards.append(float(action == t % 2))
    R, policy_losses, value_losses, returns = 0, [], [], []
    for r in model.rewards[::-1]:
        R = r + 0.99 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    for (log_prob, value), R in zip(model.saved, returns):
        policy_losses.append(-log_prob * (R - value.item()))
        value_losses.append(nn.functional.smooth_l1_loss(value, torch.tensor([R])))
    optimizer.zero_grad()
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
    loss.backward()
    optimizer.step()
    del model.rewards[:], model.saved[:]
    print(f"{loss.item():.3f}")
