"""Two steps of the encoder of julian-8897/Conv-VAE-PyTorch, without its flow and with it."""

import torch
from model.model import VanillaVAE

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
for flow in (False, True):
    net = VanillaVAE(3, 8, hidden_dims=[8, 8, 8, 8, 8], flow_check=flow).to(device)
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        loss = sum(part.mean() for part in net.encode(torch.rand(2, 3, 64, 64).to(device)))
        loss.backward()
        optimizer.step()
        print(loss.item())
