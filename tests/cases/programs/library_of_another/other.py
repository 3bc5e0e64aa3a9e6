import numpy as np
import torch
from torch import nn

from layers import Scaled
from strange import plot

x, y = torch.from_numpy(np.ones((4, 2))).float(), torch.zeros(4).long()
model = nn.Sequential(Scaled(2, 3), nn.ReLU())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = nn.CrossEntropyLoss()(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
plot(model)
