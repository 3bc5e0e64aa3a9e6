import tempfile

import torch
from torch import nn


class Actor(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.l = nn.Linear(3, 3)
        self.device = device

    def forward(self, x):
        return self.l(x)


class Agent:
    def __init__(self, device):
        self.actor = Actor(device=device).to(device)
        self.critic = nn.Linear(3, 1).to(device)
        self.device = device

    def save(self, path):
        torch.save(self.actor.state_dict(), path + "a.pt")
        torch.save(self.critic.state_dict(), path + "c.pt")

    def load(self, path):
        self.actor.load_state_dict(torch.load(path + "a.pt"))
        self.critic.load_state_dict(torch.load(path + "c.pt"))


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
agent = Agent(device)
folder = tempfile.mkdtemp() + "/"
agent.save(folder)
agent.load(folder)
print(agent.actor(torch.ones(1, 3).to(device)).sum().item() < 100)
