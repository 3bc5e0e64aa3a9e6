import numpy as np
import torch
from torch import nn

from storage import Storage

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
rng = np.random.RandomState(0)
torch.manual_seed(0)
pi = nn.Linear(3, 2).to(device)
v = nn.Linear(3, 1).to(device)
opt = torch.optim.Adam([*pi.parameters(), *v.parameters()], 1e-2)
store = Storage(6, 4, 3, device)
state = rng.randn(4, 3)
store.obs[0].copy_(torch.from_numpy(state))
for it in range(2):
    for t in range(6):
        with torch.no_grad():
            a = torch.distributions.Categorical(logits=pi(store.obs[t])).sample()
        state = 0.9 * state + 0.1 * a.cpu().numpy()[:, None]
        store.insert(torch.from_numpy(state), a, torch.from_numpy(-np.abs(state).sum(1)))
    with torch.no_grad():
        store.compute(v(store.obs[-1]).squeeze(1), 0.9)
    for o, a, r in store.feed(8):
        val = v(o).squeeze(1)
        lp = torch.distributions.Categorical(logits=pi(o)).log_prob(a)
        loss = -(lp * (r - val).detach()).mean() + (r - val).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    store.after_update()
print(loss.item() < 100)
