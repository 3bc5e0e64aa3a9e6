from abc import ABC, abstractmethod

import torch
from torch import nn


class Agent(ABC):
    def __init__(self, device):
        self.device = device
        self.net = self.build().to(device)

    @abstractmethod
    def build(self): ...

    def act(self, obs):
        return self.net(torch.tensor(obs).unsqueeze(0)).argmax(1).item()


class Small(Agent):
    def build(self):
        return nn.Linear(2, 3)


torch.manual_seed(0)
agent = Small(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
print(agent.act([0.5, -0.5]), agent.act([1.0, 2.0]))
