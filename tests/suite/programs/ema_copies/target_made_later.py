import copy
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(5, 8)
        self.head = nn.Linear(8, 1)

    def forward(self, obs, act):
        return self.head(torch.relu(self.body(torch.cat([obs, act], -1))))


class Agent:
    def __init__(self):
        self.critic = Critic().to(device)
        self.target = Critic()
        self.sync(1.0)
        self.opt = torch.optim.Adam(self.critic.parameters(), 1e-2)

    def sync(self, tau):
        with torch.no_grad():
            for t, c in zip(self.target.parameters(), self.critic.parameters()):
                t.data.copy_(tau * c.data + (1 - tau) * t.data) if tau == 1.0 else t.data.lerp_(c.data, tau)

    def learn(self, obs, act, reward, nxt):
        with torch.no_grad():
            goal = reward + 0.9 * self.target(nxt, act)
        loss = (self.critic(obs, act) - goal).pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss


torch.manual_seed(0)
agent = Agent()
for _ in range(3):
    obs, nxt = torch.randn(6, 4).to(device), torch.randn(6, 4).to(device)
    act = torch.rand(6, 1).to(device)
    loss = agent.learn(obs, act, obs.sum(1, keepdim=True), nxt)
print(bool(loss >= 0))
