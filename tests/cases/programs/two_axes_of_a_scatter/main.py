import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(2, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x = torch.rand(8, 2)
    out = net(x)
    loss = out.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
labels = out.argmax(dim=1)
plt.scatter(out[:, 0].detach(), out[:, 1].detach(), c=labels)
print(np.percentile(out.detach(), 50) < 1, round(loss.item(), 4))
