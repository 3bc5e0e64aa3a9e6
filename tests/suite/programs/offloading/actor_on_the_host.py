import copy
import random
from collections import deque

import torch
from torch import nn

LEARNER = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def make():
    return nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))


class Actor:
    """Acts on the host, for single states are faster there."""

    def __init__(self, net):
        self.net = copy.deepcopy(net).cpu().eval()

    def sync(self, learner):
        self.net.load_state_dict({k: v.cpu() for k, v in learner.state_dict().items()})

    @torch.no_grad()
    def act(self, s):
        return int(self.net(torch.tensor(s)).argmax())


class Learner:
    def __init__(self):
        self.net = make().to(LEARNER)
        self.opt = torch.optim.Adam(self.net.parameters(), 1e-2)

    def update(self, batch):
        s, a, r = (torch.tensor(c).to(LEARNER) for c in zip(*batch))
        q = self.net(s).gather(1, a[:, None]).squeeze(1)
        loss = (q - r).pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


random.seed(0)
torch.manual_seed(0)
learner = Learner()
actor = Actor(learner.net)
memory = deque(maxlen=50)
for t in range(40):
    s = [random.random() for _ in range(3)]
    a = actor.act(s)
    memory.append((s, a, s[0] - a))
    if t > 10:
        loss = learner.update(random.sample(list(memory), 8))
    if t % 10 == 0:
        actor.sync(learner.net)
print("%.2f" % loss)
