"""Two steps of the model of nikhilbarhate99/min-decision-transformer."""

import torch
from decision_transformer.model import DecisionTransformer

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = DecisionTransformer(3, 2, 1, 8, 4, 2, 0.0).to(device)
optimizer = torch.optim.Adam(net.parameters())
for _ in range(2):
    times = torch.arange(4).repeat(2, 1).to(device)
    parts = [torch.rand(2, 4, size).to(device) for size in (3, 2, 1)]
    optimizer.zero_grad()
    loss = sum(part.square().mean() for part in net(times, *parts))
    loss.backward()
    optimizer.step()
    print(loss.item())
