from collections import namedtuple

import torch
from torch import nn

Transition = namedtuple("Transition", "state action reward")

torch.manual_seed(5)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2)).to(device)
optimizer = torch.optim.Adam(q.parameters())
memory = [Transition(torch.randn(4), torch.randint(2, (1,)), torch.randn(1)) for _ in range(10)]
for step in range(3):
    batch = Transition(*map(torch.stack, zip(*memory)))
    batch = batch._replace(state=batch.state.to(device))
    value = q(batch.state).gather(1, batch.action)
    loss = nn.functional.mse_loss(value, batch.reward)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}")
