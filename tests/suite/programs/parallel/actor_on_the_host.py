import queue
import threading

import torch
from torch import nn

LEARNER = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ACTOR = torch.device("cpu")


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))

    def forward(self, x):
        return self.net(x)


def act_loop(actor, out, n):
    """Actors run on the host: they are many, and their batches are of one."""
    s = torch.zeros(4, device=ACTOR)
    for i in range(n):
        with torch.no_grad():
            a = actor(s.unsqueeze(0)).argmax(1)
        s2 = 0.9 * s + 0.1 * (a.float() * 2 - 1)
        out.put((s, a, -s2.abs().sum()))
        s = s2
    out.put(None)


torch.manual_seed(0)
learner = Policy().to(LEARNER)
actor = Policy().to(ACTOR)
opt = torch.optim.Adam(learner.parameters(), 1e-2)
for rnd in range(2):
    actor.load_state_dict({k: v.to(ACTOR) for k, v in learner.state_dict().items()})
    q = queue.Queue()
    t = threading.Thread(target=act_loop, args=(actor, q, 8))
    t.start()
    t.join()
    items = []
    while (item := q.get()) is not None:
        items.append(item)
    s, a, r = (torch.stack(z).to(LEARNER) for z in zip(*items))
    logp = learner(s).log_softmax(-1).gather(1, a).squeeze(1)
    loss = -(logp * (r - r.mean())).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(rnd, "%.4f" % loss.item())
