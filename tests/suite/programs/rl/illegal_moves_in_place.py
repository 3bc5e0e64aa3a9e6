import random
import numpy as np
import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2 = nn.Linear(3, 16), nn.Linear(16, 4)

    def forward(self, s):
        return self.l2(torch.relu(self.l1(s)))


def act(net, s, legal, eps):
    if random.random() < eps:
        return random.choice(legal)
    with torch.no_grad():
        q = net(torch.from_numpy(s).float().unsqueeze(0)).squeeze(0).numpy()
    for a in range(len(q)):
        if a not in legal:
            q[a] = -np.inf
    return int(q.argmax())


def targets(net, batch, gamma=0.9):
    s2 = torch.FloatTensor(np.stack([b[3] for b in batch]))
    with torch.no_grad():
        nxt = net(s2).max(1).values.numpy()
    return torch.tensor([b[2] + gamma * n for b, n in zip(batch, nxt)], dtype=torch.float32)


random.seed(0); np.random.seed(0); torch.manual_seed(0)
net = Policy()
opt = torch.optim.Adam(net.parameters(), 1e-2)
s, mem = np.zeros(3), []
for t in range(40):
    a = act(net, s, [0, 1, 3], 0.2)
    s2 = np.tanh(s + 0.1 * (a - 1.5))
    mem.append((s, a, -np.abs(s2).sum(), s2))
    s = s2
    if len(mem) >= 8:
        b = random.sample(mem, 8)
        q = net(torch.FloatTensor(np.stack([e[0] for e in b])))
        q = q[range(8), [e[1] for e in b]]
        loss = nn.functional.mse_loss(q, targets(net, b))
        opt.zero_grad(); loss.backward(); opt.step()
print(f"{loss.item():.5f}")
