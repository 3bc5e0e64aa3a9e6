import copy

import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

from buffer import Buffer

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 16), nn.ReLU(), nn.Linear(16, o))


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(3, 2)
        self.scale = torch.tensor([2.0])

    def forward(self, s):
        mu, log_std = self.net(s).chunk(2, -1)
        d = Normal(mu, log_std.clamp(-5, 1).exp())
        u = d.rsample()
        a = torch.tanh(u)
        return a * self.scale, (d.log_prob(u) - torch.log(1 - a.pow(2) + 1e-6)).sum(-1, keepdim=True)


np.random.seed(0)
torch.manual_seed(0)
actor, q = Actor().to(device), mlp(4, 1).to(device)
q_target = copy.deepcopy(q)
log_alpha = torch.zeros(1, requires_grad=True)
opts = [torch.optim.Adam(p, 1e-3) for p in (actor.parameters(), q.parameters(), [log_alpha])]
buf = Buffer(3, 1, 100)
s = np.random.randn(3).astype(np.float32)
for t in range(40):
    with torch.no_grad():
        a = actor(torch.as_tensor(s, device=device).unsqueeze(0))[0].cpu().numpy()[0]
    s2 = (0.9 * s + 0.1 * a).astype(np.float32)
    buf.add(s, a, -abs(s2).sum(), s2, float(t % 20 == 19))
    s = s2
for it in range(5):
    b = {k: v.to(device) for k, v in buf.sample(16).items()}
    with torch.no_grad():
        a2, lp = actor(b["s2"])
        y = b["r"] + 0.99 * (1 - b["d"]) * (q_target(torch.cat([b["s2"], a2], 1)) - log_alpha.exp() * lp)
    lq = (q(torch.cat([b["s"], b["a"]], 1)) - y).pow(2).mean()
    a, lp = actor(b["s"])
    la = (log_alpha.exp().detach() * lp - q(torch.cat([b["s"], a], 1))).mean()
    lalpha = -(log_alpha * (lp + 1.0).detach()).mean()
    for o, l in zip(opts, (la, lq, lalpha)):
        o.zero_grad()
        l.backward(retain_graph=True)
    for o in opts:
        o.step()
print("%.2f" % lq.item(), round(log_alpha.exp().item(), 2))
