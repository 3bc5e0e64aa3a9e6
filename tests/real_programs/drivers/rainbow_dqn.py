"""Two steps of the network of AndreasKaratzas/rainbow-dqn."""

import torch
from src.model import RainbowDQN

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
support = torch.linspace(-5, 5, 11).to(device)
net = RainbowDQN((4, 84, 84), 3, 11, support, num_hiddens=16, enable_base_model=True).to(device)
optimizer = torch.optim.Adam(net.parameters())
for _ in range(2):
    optimizer.zero_grad()
    loss = net(torch.rand(2, 4, 84, 84).to(device)).mean()
    loss.backward()
    optimizer.step()
    print(loss.item())
