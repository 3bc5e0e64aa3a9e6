"""Two steps of the first network of TopAgrume/Atari-Rainbow-DQN, saved and loaded after each."""

from pathlib import Path

import torch
from dqn import create_DQN_model

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
Path("models").mkdir()
net = create_DQN_model(4).to(device)
net.filename = "net"
optimizer = torch.optim.Adam(net.parameters())
for _ in range(2):
    optimizer.zero_grad()
    loss = net(torch.rand(2, 4, 84, 84).to(device)).mean()
    loss.backward()
    optimizer.step()
    print(loss.item())
    net.save_model()
    net.load_model()
