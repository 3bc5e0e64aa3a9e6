import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
steps, losses = [], []
for step in range(3):
    loss = net(torch.ones(4, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    steps.append(step)
    losses.append(loss.data)
print(np.stack([steps, np.array(losses)]).mean())
