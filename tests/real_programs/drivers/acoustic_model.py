"""Two steps of the network of bshall/acoustic-model."""

import torch
from acoustic.model import AcousticModel

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = AcousticModel(discrete=True).to(device)
net.decoder.eval()
optimizer = torch.optim.Adam(net.encoder.parameters())
for _ in range(2):
    optimizer.zero_grad()
    units = torch.randint(0, 100, (1, 8)).to(device)
    loss = net.encoder(units).mean()
    loss.backward()
    optimizer.step()
    print(loss.item())
with torch.no_grad():
    print(net.decoder(net.encoder(units), torch.rand(1, 16, 128).to(device)).shape)
