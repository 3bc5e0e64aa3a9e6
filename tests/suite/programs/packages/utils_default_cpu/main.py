import torch

import data
from nets import Mlp

torch.manual_seed(0)
model = Mlp(4, 8)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(3):
    for x, y in data.loader(3):
        loss = model.loss(x, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, f"{loss.item():.4f}")
