"""Two steps of the network of Arshad221b/NeRF-from-scratch."""

import torch
from model import NeRFModel

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = NeRFModel(pos_freqs=4, dir_freqs=2, hidden_size=16).to(device)
optimizer = torch.optim.Adam(net.parameters())
for _ in range(2):
    optimizer.zero_grad()
    loss = net(torch.rand(8, 3).to(device), torch.rand(8, 3).to(device)).mean()
    loss.backward()
    optimizer.step()
    print(loss.item())
